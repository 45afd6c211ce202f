package listerror_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/forge-sdk/forge-go/forgevet/listerror"
)

// The findings in the program are exactly its comments "want".
func TestAnalyzer(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), listerror.Analyzer, "program")
}
