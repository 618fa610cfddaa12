// Judges the money of a recorded history: go run . history.jsonl
//
// Each account is a register of its balance, in half-credits. Porcupine looks for an order of all operations in which each
// takes effect once between its call and its return, and each figure that was answered is right.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/anishathalye/porcupine"
)

// An operation of the history. test/third-party/money/history.ts has what each kind means.
type operation struct {
	Account string `json:"account"`
	Client  int    `json:"client"`
	Call    int64  `json:"call"`
	Return  int64  `json:"return"`
	Kind    string `json:"kind"`
	Amount  int    `json:"amount"`
	// What was answered as the balance, where it was.
	Balance *int `json:"balance"`
}

func (o operation) answers(balance int) bool {
	return o.Balance == nil || *o.Balance == balance
}

func step(from, input, _ interface{}) []interface{} {
	balance, o := from.(int), input.(operation)
	less := balance - o.Amount
	switch {
	case o.Kind == "open":
		return []interface{}{o.Amount}
	case o.Kind == "refund":
		return []interface{}{balance + o.Amount}
	case o.Kind == "read" && o.answers(balance):
		return []interface{}{balance}
	case o.Kind == "insufficient" && less < 0 && o.answers(balance):
		return []interface{}{balance}
	case o.Kind == "charge" && less >= 0 && o.answers(less):
		return []interface{}{less}
	case o.Kind == "may_charge" && less >= 0:
		return []interface{}{balance, less}
	case o.Kind == "may_charge":
		return []interface{}{balance}
	}
	return nil
}

func partition(history []porcupine.Operation) [][]porcupine.Operation {
	byAccount := map[string][]porcupine.Operation{}
	for _, one := range history {
		account := one.Input.(operation).Account
		byAccount[account] = append(byAccount[account], one)
	}
	parts := [][]porcupine.Operation{}
	for _, part := range byAccount {
		parts = append(parts, part)
	}
	return parts
}

func read(path string) ([]porcupine.Operation, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	history := []porcupine.Operation{}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var one operation
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			return nil, err
		}
		history = append(history, porcupine.Operation{ClientId: one.Client, Input: one, Call: one.Call, Return: one.Return})
	}
	return history, lines.Err()
}

// One account after the other: the verdict names the account, and a search that takes too long stops only its own.
const accountTimeout = 2 * time.Minute

func main() {
	history, err := read(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	model := porcupine.NondeterministicModel{
		Init: func() []interface{} { return []interface{}{0} },
		Step: step,
	}
	toModel := model.ToModel()
	began := time.Now()
	parts := partition(history)
	verdict := porcupine.CheckResult(porcupine.Ok)
	accounts := []string{}
	for _, part := range parts {
		result := porcupine.CheckOperationsTimeout(toModel, part, accountTimeout)
		if result == porcupine.Ok {
			continue
		}
		accounts = append(accounts, part[0].Input.(operation).Account)
		if verdict != porcupine.Illegal {
			verdict = result
		}
	}
	_ = json.NewEncoder(os.Stdout).Encode(map[string]interface{}{
		"verdict":    verdict,
		"operations": len(history),
		"accounts":   len(parts),
		"wrong":      accounts,
		"ms":         time.Since(began).Milliseconds(),
	})
}
