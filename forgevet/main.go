// Forgevet checks programs that use forge-go for mistakes that compile. It has two checks:
// listerror finds loops over a list that drop its error, and embeddedjson finds structs whose
// fields encoding/json ignores because they embed a response type.
//
//	forgevet ./...
//	go vet -vettool=$(which forgevet) ./...
//
// Both commands run in the module of the program, and read its tests, too. They fail if there is a
// finding. The flag -listerror or -embeddedjson runs one check only.
package main

import (
	"golang.org/x/tools/go/analysis/multichecker"

	"github.com/forge-sdk/forge-go/forgevet/embeddedjson"
	"github.com/forge-sdk/forge-go/forgevet/listerror"
)

func main() { multichecker.Main(listerror.Analyzer, embeddedjson.Analyzer) }
