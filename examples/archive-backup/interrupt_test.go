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
	n := demotest.Interrupt(t, "projects are saved", func(t *testing.T) (*forgetest.Server, []string) {
		srv, paths := newServer(t, 5)
		return srv, []string{"-dir", t.TempDir(), "-parallel", "2", "-projects", strings.Join(paths, ",")}
	})
	assert.GreaterOrEqual(t, n, 5)
}
