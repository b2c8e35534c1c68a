// Runs a program that a model could have written, with two tools of this process: one answers, one needs an approval.
//
//	go run . # where pkg-config finds lathe
package main

// #cgo pkg-config: lathe
// #include <lathe.h>
// #include <stdlib.h>
import "C"

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"sync"
	"unsafe"
)

const program = `
const stock = shopStock({item: 'tea'});
output('there are ' + stock.count);
if (stock.count < 10) { shopOrder({item: 'tea', count: 10 - stock.count}); }
return {ordered: 10 - stock.count};
`

type tool struct {
	description, approval string
	call                  func(input json.RawMessage) (any, error)
}

var tools = map[string]tool{
	"shop.stock": {"How many of an item there are.", "", func(json.RawMessage) (any, error) {
		return map[string]int{"count": 3}, nil
	}},
	"shop.order": {"Orders more of an item.", "it spends money", func(input json.RawMessage) (any, error) {
		fmt.Printf("ordering: %s\n", input)
		return map[string]bool{"ok": true}, nil
	}},
}

// texts are copies for C, until they are freed. The library keeps none of them.
type texts []*C.char

func (t *texts) add(text string) *C.char {
	if text == "" {
		return nil
	}
	*t = append(*t, C.CString(text))
	return (*t)[len(*t)-1]
}

func (t *texts) free() {
	for _, text := range *t {
		C.free(unsafe.Pointer(text))
	}
}

func must(status C.lathe_status, e *C.lathe_error) {
	if status != C.LATHE_OK {
		log.Fatal(C.GoString(&e.message[0]))
	}
}

// answer may run beside other calls of the program.
func answer(env *C.lathe_env, number C.uint64_t, name string, input string) {
	var t texts
	defer t.free()
	value, err := tools[name].call(json.RawMessage(input))
	text := []byte{}
	if err == nil {
		text, err = json.Marshal(value)
	}
	if err != nil {
		C.lathe_fail(env, number, t.add(err.Error()), nil)
	} else {
		C.lathe_answer(env, number, t.add(string(text)), nil)
	}
}

// serve takes the events of one program until it ends, and returns its report. Nobody uses the environment afterwards.
func serve(env *C.lathe_env) string {
	var calls sync.WaitGroup
	defer calls.Wait()
	for {
		var event *C.lathe_event
		if status := C.lathe_next(env, -1, &event); status != C.LATHE_OK {
			log.Fatal(C.GoString(C.lathe_status_text(status)))
		}
		kind, number, status := event._type, event.call, event.status
		name, text, content := C.GoString(event.tool), C.GoString(event.text), C.GoString(event.json)
		C.lathe_event_free(event)
		switch kind {
		case C.LATHE_EVENT_CALL:
			calls.Add(1)
			go func() {
				defer calls.Done()
				answer(env, number, name, content)
			}()
		case C.LATHE_EVENT_APPROVAL:
			fmt.Printf("approved, although %s: %s\n", text, content) // a person would be asked here
			C.lathe_approve(env, number, nil, nil)
		case C.LATHE_EVENT_OUTPUT:
			fmt.Println("output:", text)
		case C.LATHE_EVENT_END:
			if status != C.LATHE_OK {
				log.Fatal(text)
			}
			return content
		}
	}
}

func main() {
	var t texts
	defer t.free()
	var env *C.lathe_env
	var number C.uint64_t
	e := C.lathe_error{size: C.sizeof_lathe_error}
	must(C.lathe_open(nil, &env, &e), &e)
	defer C.lathe_close(env)
	for name, it := range tools {
		options := C.lathe_tool_options{
			size: C.sizeof_lathe_tool_options, name: t.add(name), description: t.add(it.description), approval: t.add(it.approval),
		}
		must(C.lathe_add_tool(env, &options, &e), &e)
	}
	options := C.lathe_run_options{size: C.sizeof_lathe_run_options, code: t.add(program)}
	must(C.lathe_start(env, &options, &number, &e), &e)

	var report struct {
		Result json.RawMessage
		Calls  []struct{ Tool string }
	}
	if err := json.Unmarshal([]byte(serve(env)), &report); err != nil {
		log.Fatal(err)
	}
	names := []string{}
	for _, call := range report.Calls {
		names = append(names, call.Tool)
	}
	json.NewEncoder(os.Stdout).Encode(map[string]any{"result": report.Result, "calls": names})
}
