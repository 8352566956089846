// Enforces PRECIS UsernameCaseMapped on the JSON strings of its input, one a line, and prints a JSON object for each.
package main

import (
	"bufio"
	"encoding/json"
	"os"
	"unicode"

	"golang.org/x/text/secure/precis"
	"golang.org/x/text/unicode/rangetable"
)

type answer struct {
	// False for a string with a character that is newer than the tables of the package.
	Known    bool    `json:"known"`
	Enforced *string `json:"enforced"`
}

func main() {
	input := bufio.NewScanner(os.Stdin)
	output := bufio.NewWriter(os.Stdout)
	defer output.Flush()
	encoder := json.NewEncoder(output)
	assigned := rangetable.Assigned(precis.UnicodeVersion)
	for input.Scan() {
		var name string
		if err := json.Unmarshal(input.Bytes(), &name); err != nil {
			panic(err)
		}
		result := answer{Known: true}
		for _, char := range name {
			result.Known = result.Known && unicode.Is(assigned, char)
		}
		if enforced, err := precis.UsernameCaseMapped.String(name); err == nil {
			result.Enforced = &enforced
		}
		if err := encoder.Encode(result); err != nil {
			panic(err)
		}
	}
}
