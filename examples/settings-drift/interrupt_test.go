package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/examples/internal/demotest"
	"github.com/forge-sdk/forge-go/forgetest"
)

func TestMain(m *testing.M) { demotest.Main(m, main) }

// A program that is interrupted at any request fails, and does not say that it is done.
func TestInterrupted(t *testing.T) {
	n := demotest.Interrupt(t, "Done: all settings", func(t *testing.T) (*forgetest.Server, []string) {
		return demotest.Server(t), []string{"-file", "desired.json", "-apply", "-yes"}
	})
	assert.GreaterOrEqual(t, n, 3)
}

// What a user meets: a first run, a second one, the next day, servers that are empty or refuse.
func TestSituations(t *testing.T) {
	desired, err := filepath.Abs("desired.json")
	require.NoError(t, err)
	same := demotest.Outcome{Text: "No drift: all settings of the file are in force.\n"}
	changed := demotest.Outcome{Text: "Done: all settings of the file are in force.\n"}
	(&demotest.Situations{
		Args:  []string{"-file", desired, "-apply"},
		Demo:  demotest.Outcome{Code: 1, Text: "5 settings to change; -apply does it\n"},
		First: changed, Second: same, NextDay: same, Empty: changed, Refused: 2,
	}).Check(t)
}
