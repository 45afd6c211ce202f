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
	n := demotest.Interrupt(t, "unsubscribed again", func(t *testing.T) (*forgetest.Server, []string) {
		srv := demotest.Server(t)
		t.Setenv("TMPDIR", t.TempDir())
		t.Setenv("FORGE_PROJECT", "acme/platform/gateway")
		return srv, nil
	})
	assert.GreaterOrEqual(t, n, 6)
}
