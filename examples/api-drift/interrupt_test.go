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
	n := demotest.Interrupt(t, "read endpoints were read.", func(t *testing.T) (*forgetest.Server, []string) {
		return demotest.Server(t), []string{"-group", "acme", "-project", "acme/storefront", "-downloads=false"}
	})
	assert.Greater(t, n, 30)
}

// What a user meets: a first run, a second one, the next day, servers that are empty or refuse.
func TestSituations(t *testing.T) {
	found := demotest.Outcome{Code: 1, Text: "10 fields that this version does not know"}
	(&demotest.Situations{
		Args: []string{"-group", "acme", "-project", "acme/storefront"},
		Demo: found, First: found, Second: found, NextDay: found, Empty: found, Refused: 2,
	}).Check(t)
}
