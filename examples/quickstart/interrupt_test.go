package main

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/forge-sdk/forge-go/examples/internal/demotest"
	"github.com/forge-sdk/forge-go/forgetest"
)

func TestMain(m *testing.M) { demotest.Main(m, main) }

// A program that is interrupted at any request fails, does not say that it is done, and leaves no
// file behind.
func TestInterrupted(t *testing.T) {
	n := demotest.Interrupt(t, "Done.", func(t *testing.T) (*forgetest.Server, []string) {
		srv := demotest.Server(t)
		inEmptyFolders(t)
		t.Setenv("FORGE_PROJECT", "acme/platform/gateway")
		return srv, nil
	})
	assert.GreaterOrEqual(t, n, 5)
}
