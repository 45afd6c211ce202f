package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/examples/internal/demotest"
	"github.com/forge-sdk/forge-go/forgetest"
)

// TestMain lets the test binary be the program, so that there is a process to interrupt or to kill.
func TestMain(m *testing.M) { demotest.Main(m, main) }

// An export that is interrupted at any page fails, does not say that it is done, and is
// completed by the same command.
func TestInterrupted(t *testing.T) {
	const events, pages = 450, 5
	for _, ahead := range []int{1, 8} {
		t.Run(fmt.Sprint("ahead ", ahead), func(t *testing.T) {
			n := demotest.Interrupt(t, "Wrote", func(t *testing.T) (*forgetest.Server, []string) {
				srv := target(t, events)
				args := []string{"-file", filepath.Join(t.TempDir(), "events.ndjson"), "-ahead", fmt.Sprint(ahead)}
				t.Cleanup(func() {
					srv.ClearFaults()
					var out strings.Builder
					require.NoError(t, run(context.WithoutCancel(t.Context()), args, nil, &out))
					assertWhole(t, args[1], events)
				})
				return srv, args
			})
			assert.Equal(t, pages, n)
		})
	}
}
