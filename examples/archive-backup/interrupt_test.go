package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/forge-sdk/forge-go/examples/internal/demotest"
	"github.com/forge-sdk/forge-go/forgetest"
)

func TestMain(m *testing.M) { demotest.Main(m, main) }

// A program that is interrupted at any request fails, and does not say that it is done.
func TestInterrupted(t *testing.T) {
	n := demotest.Interrupt(t, "Saved and verified", func(t *testing.T) (*forgetest.Server, []string) {
		srv, paths := newServer(t, 5)
		return srv, []string{"-dir", t.TempDir(), "-parallel", "2", "-projects", strings.Join(paths, ",")}
	})
	assert.GreaterOrEqual(t, n, 5)
}

// What a user meets: a first run, a second one, the next day, servers that are empty or refuse.
func TestSituations(t *testing.T) {
	unchanged := demotest.Outcome{Text: "unchanged\nSaved and verified 1 project: "}
	(&demotest.Situations{
		Args: []string{"-dir", "backup", "-projects", "acme/platform/gateway"}, Files: []string{"backup"},
		Demo:   demotest.Outcome{Text: "saved, 1 file\n"},
		First:  demotest.Outcome{Text: "Saved and verified 1 project: "},
		Second: unchanged, NextDay: unchanged,
		Empty:   demotest.Outcome{Code: 1, Text: "1 of 1 project failed; the same command tries again"},
		Refused: 1,
	}).Check(t)
}
