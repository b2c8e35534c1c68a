// Runs a program that a model could have written, with two tools of this process: one answers, one needs an approval.
//
//	go run . # where pkg-config finds lathe
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"

	"order/lathe"
)

const program = `
const stock = shopStock({item: 'tea'});
output('there are ' + stock.count);
if (stock.count < 10) { shopOrder({item: 'tea', count: 10 - stock.count}); }
return {ordered: 10 - stock.count};
`

var stock = lathe.Tool{Name: "shop.stock", Description: "How many of an item there are.", Call: func(json.RawMessage) (any, error) {
	return map[string]int{"count": 3}, nil
}}

var order = lathe.Tool{Name: "shop.order", Description: "Orders more of an item.", Approval: "it spends money", Call: func(input json.RawMessage) (any, error) {
	fmt.Printf("ordering: %s\n", input)
	return map[string]bool{"ok": true}, nil
}}

func main() {
	sandbox, err := lathe.Open("", stock, order)
	if err != nil {
		log.Fatal(err)
	}
	defer sandbox.Close()
	sandbox.Output = func(text string) { fmt.Println("output:", text) }
	sandbox.Approve = func(tool, why string, input json.RawMessage) bool {
		fmt.Printf("approved, although %s: %s\n", why, input) // a person would be asked here
		return true
	}
	report, err := sandbox.Run(program)
	if err != nil {
		log.Fatal(err)
	}
	names := []string{}
	for _, call := range report.Calls {
		names = append(names, call.Tool)
	}
	json.NewEncoder(os.Stdout).Encode(map[string]any{"result": report.Result, "calls": names})
}
