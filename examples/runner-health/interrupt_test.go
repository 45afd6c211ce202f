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
	n := demotest.Interrupt(t, " to look at.", func(t *testing.T) (*forgetest.Server, []string) {
		return demotest.Server(t), []string{"-all"}
	})
	assert.GreaterOrEqual(t, n, 10)
}

// What a user meets: a first run, a second one, the next day, servers that are empty or refuse.
func TestSituations(t *testing.T) {
	(&demotest.Situations{
		Args:    []string{"-all", "-check"},
		Demo:    demotest.Outcome{Text: "5 to look at.\n"},
		First:   demotest.Outcome{Code: 1, Text: "4 runners to look at\n"},
		Second:  demotest.Outcome{Code: 1, Text: "4 runners to look at\n"},
		NextDay: demotest.Outcome{Code: 1, Text: "6 runners to look at\n"},
		Empty:   demotest.Outcome{Text: "/api/v4\n\n0 runners: 0 to look at.\n"},
		Refused: 2,
	}).Check(t)
}
