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
	n := demotest.Interrupt(t, "refused by the server", func(t *testing.T) (*forgetest.Server, []string) {
		t.Setenv("REDIS_URL", "")
		return useServer(t, 12), []string{"-rate", "5000"}
	})
	assert.GreaterOrEqual(t, n, 10)
}

// What a user meets: a first run, a second one, the next day, servers that are empty or refuse.
func TestSituations(t *testing.T) {
	t.Setenv("REDIS_URL", "")
	all := demotest.Outcome{Text: "309 requests in "}
	(&demotest.Situations{
		DemoArgs: []string{"-rate", "5000"},
		Demo:     all, First: all, Second: all, NextDay: all, Empty: demotest.Outcome{Text: "2 requests in "}, Refused: 2,
	}).Check(t)
}
