package main

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/forge-sdk/forge-go/examples/internal/demotest"
	"github.com/forge-sdk/forge-go/forgetest"
)

func TestMain(m *testing.M) { demotest.Main(m, main) }

// A program that is interrupted at any request fails, and does not say that it is done.
func TestInterrupted(t *testing.T) {
	n := demotest.Interrupt(t, "Committed to ", func(t *testing.T) (*forgetest.Server, []string) {
		return demotest.Server(t), []string{"-project", "acme/platform/gateway", "-version", "1.3.0", "-commit", "-yes"}
	})
	assert.GreaterOrEqual(t, n, 4)
}

// What a user meets: a first run, a second one, the next day, servers that are empty or refuse.
func TestSituations(t *testing.T) {
	there := demotest.Outcome{Code: 1, Text: "CHANGELOG.md has a section for 1.3.0 already: nothing was committed"}
	(&demotest.Situations{
		Args:   []string{"-project", "acme/platform/gateway", "-version", "1.3.0", "-commit"},
		Demo:   demotest.Outcome{Text: "### fixed (1 change)"},
		First:  demotest.Outcome{Text: "Committed to CHANGELOG.md."},
		Second: there, NextDay: there,
		Empty:   demotest.Outcome{Code: 2, Text: "404 Not Found"},
		Refused: 2,
	}).Check(t)
}
