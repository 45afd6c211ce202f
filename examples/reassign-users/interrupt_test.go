package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/forge-sdk/forge-go/examples/internal/demotest"
	"github.com/forge-sdk/forge-go/forgetest"
)

func TestMain(m *testing.M) { demotest.Main(m, main) }

// A program that is interrupted at any request fails, and does not say that it is done.
func TestInterrupted(t *testing.T) {
	n := demotest.Interrupt(t, "Reassigned ", func(t *testing.T) (*forgetest.Server, []string) {
		return demotest.Server(t), []string{"-group", "acme", "-file", filepath.Join(t.TempDir(), "people.csv"), "-yes"}
	})
	assert.GreaterOrEqual(t, n, 10)
}

// What a user meets: a first run, a second one, the next day, servers that are empty or refuse.
func TestSituations(t *testing.T) {
	nobody := demotest.Outcome{Code: 1, Text: "people.csv names nobody"}
	(&demotest.Situations{
		Args: []string{"-group", "acme", "-file", "people.csv"}, Files: []string{"people.csv"},
		Demo:   demotest.Outcome{Text: "No file is kept: -file names a place for it.\n"},
		First:  demotest.Outcome{Text: "Reassigned 4; 2 still pending.\n"},
		Second: nobody, NextDay: nobody,
		Empty:   demotest.Outcome{Text: "There is nothing to reassign.\n"},
		Refused: 2,
	}).Check(t)
}
