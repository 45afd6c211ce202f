// Forgevet checks programs that use forge-go for a mistake that compiles: listerror finds loops
// over a list that drop its error.
//
//	forgevet ./...
//	go vet -vettool=$(which forgevet) ./...
//
// Both commands run in the module of the program, and read its tests, too. They fail if there is a
// finding.
package main

import (
	"golang.org/x/tools/go/analysis/multichecker"

	"github.com/forge-sdk/forge-go/forgevet/listerror"
)

func main() { multichecker.Main(listerror.Analyzer) }
