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
	n := demotest.Interrupt(t, "subscribed is now false", func(t *testing.T) (*forgetest.Server, []string) {
		return demotest.Server(t), []string{"-record", "-cassette", filepath.Join(t.TempDir(), "triage")}
	})
	assert.GreaterOrEqual(t, n, 4)
}

// What a user meets: a first run, a second one, the next day, servers that are empty or refuse.
func TestSituations(t *testing.T) {
	triage, err := filepath.Abs("testdata/triage")
	require.NoError(t, err)
	bugs := demotest.Outcome{Text: "subscribed is now false"}
	(&demotest.Situations{
		DemoArgs: []string{"-cassette", triage},
		Args:     []string{"-record", "-cassette", "triage"}, Files: []string{"triage.yaml"},
		Demo: bugs, First: bugs, Second: bugs, NextDay: bugs,
		Empty:   demotest.Outcome{Text: "Root has 0 bugs to give away\n"},
		Refused: 2,
	}).Check(t)
}
