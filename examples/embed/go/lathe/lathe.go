// Package lathe runs programs that a model has written, with tools that are Go functions. It needs liblathe, which
// pkg-config finds, and is short enough to be taken into a program and changed.
package lathe

// #cgo pkg-config: lathe
// #include <lathe.h>
// #include <stdlib.h>
import "C"

import (
	"encoding/json"
	"errors"
	"sync"
	"unsafe"
)

// A Tool is a function that programs call by its name. Calls of one program may run beside each other.
type Tool struct {
	Name, Description string
	Approval          string // why each call needs an approval first; "": it needs none
	Call              func(input json.RawMessage) (any, error)
}

// A Sandbox has tools and runs one program at a time.
type Sandbox struct {
	Output  func(text string)
	Approve func(tool, why string, input json.RawMessage) bool // nil: nothing is approved

	env   *C.lathe_env
	tools map[string]Tool
}

// A Report tells what a program has done.
type Report struct {
	Result json.RawMessage
	Calls  []struct{ Tool string }
}

// call gives f copies of texts for C, which are freed then ("" is NULL), and returns its failure.
func call(f func(t []*C.char, e *C.lathe_error) C.lathe_status, texts ...string) error {
	e, copies := C.lathe_error{size: C.sizeof_lathe_error}, make([]*C.char, len(texts))
	for i, text := range texts {
		if text != "" {
			copies[i] = C.CString(text)
			defer C.free(unsafe.Pointer(copies[i]))
		}
	}
	if f(copies, &e) != C.LATHE_OK {
		return errors.New(C.GoString(&e.message[0]))
	}
	return nil
}

// Open makes a sandbox; `config` is that of lathe.yaml, "" the defaults.
func Open(config string, tools ...Tool) (*Sandbox, error) {
	s := &Sandbox{tools: map[string]Tool{}}
	err := call(func(t []*C.char, e *C.lathe_error) C.lathe_status {
		return C.lathe_open(&C.lathe_options{size: C.sizeof_lathe_options, config: t[0]}, &s.env, e)
	}, config)
	for i := 0; i < len(tools) && err == nil; i++ {
		s.tools[tools[i].Name] = tools[i]
		err = call(func(t []*C.char, e *C.lathe_error) C.lathe_status {
			return C.lathe_add_tool(s.env, &C.lathe_tool_options{
				size: C.sizeof_lathe_tool_options, name: t[0], description: t[1], approval: t[2]}, e)
		}, tools[i].Name, tools[i].Description, tools[i].Approval)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close ends what runs.
func (s *Sandbox) Close() { C.lathe_close(s.env) }

// Run runs a program to its end.
func (s *Sandbox) Run(code string) (report Report, err error) {
	err = call(func(t []*C.char, e *C.lathe_error) C.lathe_status {
		return C.lathe_start(s.env, &C.lathe_run_options{size: C.sizeof_lathe_run_options, code: t[0]}, nil, e)
	}, code)
	var calls sync.WaitGroup
	defer calls.Wait() // none is inside when the sandbox is closed
	for err == nil {
		var event *C.lathe_event
		if status := C.lathe_next(s.env, -1, &event); status != C.LATHE_OK {
			return report, errors.New(C.GoString(C.lathe_status_text(status)))
		}
		kind, number, status := event._type, event.call, event.status
		tool, text, content := C.GoString(event.tool), C.GoString(event.text), C.GoString(event.json)
		C.lathe_event_free(event)
		switch kind {
		case C.LATHE_EVENT_CALL:
			calls.Add(1)
			go func() {
				defer calls.Done()
				s.answer(number, tool, content)
			}()
		case C.LATHE_EVENT_APPROVAL:
			if s.Approve != nil && s.Approve(tool, text, json.RawMessage(content)) {
				C.lathe_approve(s.env, number, nil, nil)
			} else {
				C.lathe_reject(s.env, number, nil, nil)
			}
		case C.LATHE_EVENT_OUTPUT:
			if s.Output != nil {
				s.Output(text)
			}
		case C.LATHE_EVENT_END:
			if status != C.LATHE_OK {
				return report, errors.New(text)
			}
			return report, json.Unmarshal([]byte(content), &report)
		}
	}
	return report, err
}

// answer is in vain where nobody waits for it any more, such as after a timeout.
func (s *Sandbox) answer(number C.uint64_t, tool, input string) {
	value, err := s.tools[tool].Call(json.RawMessage(input))
	var text []byte
	if err == nil {
		text, err = json.Marshal(value)
	}
	if err == nil {
		err = call(func(t []*C.char, e *C.lathe_error) C.lathe_status { return C.lathe_answer(s.env, number, t[0], e) }, string(text))
	}
	if err != nil {
		_ = call(func(t []*C.char, e *C.lathe_error) C.lathe_status { return C.lathe_fail(s.env, number, t[0], e) }, err.Error())
	}
}
