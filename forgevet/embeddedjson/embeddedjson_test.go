package embeddedjson_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/forge-sdk/forge-go/forgevet/embeddedjson"
)

// The findings in the program are exactly its comments "want". Package forge has none.
func TestAnalyzer(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), embeddedjson.Analyzer, "program", "github.com/forge-sdk/forge-go")
}
