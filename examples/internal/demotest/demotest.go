// Package demotest has the code that the tests of the example programs share.
package demotest

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/forgetest"
)

// Program is the function of a program that its main runs.
type Program = func(ctx context.Context, args []string, in io.Reader, out io.Writer) error

// Server starts a server with the demo data and sets FORGE_URL and FORGE_TOKEN to it, as to a real
// one. Its clock runs fast, so that tests do not wait for its background work.
func Server(t *testing.T, options ...forgetest.Option) *forgetest.Server {
	t.Helper()
	srv := Empty(t, append(options, forgetest.WithDemo())...)
	started := time.Now()
	srv.SetClock(func() time.Time { return forgetest.DemoTime().Add(50 * time.Since(started)) })
	return srv
}

// Empty is Server without the demo data.
func Empty(t *testing.T, options ...forgetest.Option) *forgetest.Server {
	t.Helper()
	srv := forgetest.New(t, options...)
	t.Setenv("FORGE_URL", srv.URL)
	t.Setenv("FORGE_TOKEN", srv.Token)
	return srv
}

// Run runs a program with an input, and returns what it printed below the line that names the
// server.
func Run(t *testing.T, program Program, input string, args ...string) (string, error) {
	t.Helper()
	var out strings.Builder
	err := program(t.Context(), args, strings.NewReader(input), &out)
	_, rest, found := strings.Cut(out.String(), "\n\n")
	if !strings.HasPrefix(out.String(), "Server") || !found {
		rest = out.String()
	}
	return rest, err
}

// Interrupt runs a program and interrupts it at its first request, then at its second one, and so
// on, until a run has no further request. An interrupted program must fail, and must not print
// done, which it prints at the end. start creates a server and returns the arguments of a run.
// after, which may be nil, looks at what an interrupted run has left.
func Interrupt(t *testing.T, program Program, done string, start func(t *testing.T) (*forgetest.Server, []string), after func(t *testing.T)) {
	t.Helper()
	for at, ended := 0, false; !ended; at++ {
		srv, args := start(t)
		seen := srv.CountRequests("*")
		srv.Fail("*", forgetest.Delay(time.Hour).After(at))
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			for srv.CountRequests("*") <= seen+at && ctx.Err() == nil {
				time.Sleep(time.Millisecond)
			}
			cancel()
		}()
		var out strings.Builder
		err := program(ctx, args, strings.NewReader(""), &out)
		cancel()
		if ended = err == nil; ended {
			assert.Contains(t, out.String(), done, "the run that is not interrupted")
			require.Greater(t, at, 1, "the program has sent too few requests")
			continue
		}
		require.ErrorIs(t, err, context.Canceled, "interrupted at request %d", at+1)
		require.NotContains(t, out.String(), done, "interrupted at request %d", at+1)
		if after != nil {
			after(t)
		}
	}
}
