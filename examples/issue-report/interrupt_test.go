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
	n := demotest.Interrupt(t, "Page ", func(t *testing.T) (*forgetest.Server, []string) {
		return demotest.Server(t), []string{"-out", filepath.Join(t.TempDir(), "report.html")}
	})
	assert.GreaterOrEqual(t, n, 2)
}

// What a user meets: a first run, a second one, the next day, servers that are empty or refuse.
func TestSituations(t *testing.T) {
	page := demotest.Outcome{Text: "\nPage    issue-report.html\n"}
	(&demotest.Situations{
		Args: []string{"-out", "issue-report.html"}, Files: []string{"issue-report.html"},
		Demo:  demotest.Outcome{Text: "all issues"},
		First: page, Second: page, NextDay: page,
		Empty:   demotest.Outcome{Text: "There is no issue that this user can see."},
		Refused: 2,
	}).Check(t)
}
