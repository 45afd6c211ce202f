// Package demotest has the code that the tests of the example programs share.
package demotest

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/forge-sdk/forge-go/forgetest"
)

// pace is how many times faster the clock of a server runs, so that tests do not wait for its
// background work.
const pace = 50

// Server starts a server with the demo data and sets FORGE_URL and FORGE_TOKEN to it, as to a real
// one.
func Server(t *testing.T, options ...forgetest.Option) *forgetest.Server {
	t.Helper()
	srv := forgetest.New(t, append([]forgetest.Option{forgetest.WithDemo()}, options...)...)
	started := time.Now()
	srv.SetClock(func() time.Time { return forgetest.DemoTime().Add(pace * time.Since(started)) })
	return useServer(t, srv)
}

// useServer sets FORGE_URL and FORGE_TOKEN to a server.
func useServer(t *testing.T, srv *forgetest.Server) *forgetest.Server {
	t.Helper()
	t.Setenv("FORGE_URL", srv.URL)
	t.Setenv("FORGE_TOKEN", srv.Token)
	return srv
}

// Run runs a program with an input, and returns what it printed below the line that names the
// server.
func Run(t *testing.T, program func(context.Context, []string, io.Reader, io.Writer) error, input string, args ...string) (string, error) {
	t.Helper()
	var out strings.Builder
	err := program(t.Context(), args, strings.NewReader(input), &out)
	_, rest, found := strings.Cut(out.String(), "\n\n")
	if !strings.HasPrefix(out.String(), "Server") || !found {
		rest = out.String()
	}
	return rest, err
}
