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
	n := demotest.Interrupt(t, ", 0 failed,", func(t *testing.T) (*forgetest.Server, []string) {
		return demotest.Server(t), nil
	})
	assert.GreaterOrEqual(t, n, 3)
}

// What a user meets: a first run, a second one, the next day, servers that are empty or refuse.
func TestSituations(t *testing.T) {
	traced := demotest.Outcome{Text: "\n5 calls, 0 failed, "}
	(&demotest.Situations{
		Demo: traced, First: traced, Second: traced, NextDay: traced,
		Empty:   demotest.Outcome{Text: "\n1 call, 0 failed, "},
		Refused: 2,
	}).Check(t)
}
