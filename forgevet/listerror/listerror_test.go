package listerror_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/forge-sdk/forge-go/forgevet/listerror"
)

// The comments "want" of the program are the findings, and there are no others.
func TestAnalyzer(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), listerror.Analyzer, "program")
}
