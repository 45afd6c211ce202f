package demotest

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/forge-sdk/forge-go/forgetest"
)

// Outcome is how a run must end.
type Outcome struct {
	// Code is the exit code.
	Code int
	// Text is a part of the output, or of the error.
	Text string
}

// Situations are the outcomes of a program in situations that each user meets.
type Situations struct {
	// Args are the arguments of a run on a real server, without DemoArgs.
	Args []string
	// Files are the names in the working directory that a run with Args may write.
	Files []string
	// DemoArgs are arguments of each run.
	DemoArgs []string
	// Demo is the outcome of a run without a server, where each question gets a yes. It
	// leaves no file.
	Demo Outcome
	// First is the outcome on a server with the demo data.
	First Outcome
	// Second is the outcome of the same command immediately after that.
	Second Outcome
	// NextDay is the outcome of the same command on the next day.
	NextDay Outcome
	// Empty is the outcome on a server that has the group acme, the project acme/storefront and
	// nothing else.
	Empty Outcome
	// Refused is the outcome on servers that refuse each call, or have a sign-in page for it.
	Refused int
}

// Check runs the program in all situations. Process checks what is true of each run.
func (s *Situations) Check(t *testing.T) {
	t.Helper()
	t.Run("demo", func(t *testing.T) {
		t.Setenv("FORGE_URL", "")
		assert.Empty(t, s.run(t, t.TempDir(), s.Demo), "left in the working directory")
	})
	t.Run("again and again", func(t *testing.T) {
		srv, dir := Server(t), t.TempDir()
		assert.ElementsMatch(t, s.Files, s.run(t, dir, s.First, s.Args...))
		assert.ElementsMatch(t, s.Files, s.run(t, dir, s.Second, s.Args...))
		started := time.Now()
		srv.SetClock(func() time.Time { return forgetest.DemoTime().AddDate(0, 0, 1).Add(pace * time.Since(started)) })
		assert.ElementsMatch(t, s.Files, s.run(t, dir, s.NextDay, s.Args...))
	})
	t.Run("empty server", func(t *testing.T) {
		srv := useServer(t, forgetest.New(t))
		srv.SetClock(forgetest.DemoTime)
		srv.AddProject("acme/storefront")
		assert.Subset(t, s.Files, s.run(t, t.TempDir(), s.Empty, s.Args...))
	})
	for name, fault := range map[string]forgetest.Fault{
		"401": forgetest.Status(401), "403": forgetest.Status(403), "HTML": forgetest.Respond(200, "text/html", "<html><title>Sign in</title></html>"),
	} {
		t.Run(name, func(t *testing.T) {
			Server(t).Fail("*", fault)
			assert.Subset(t, s.Files, s.run(t, t.TempDir(), Outcome{Code: s.Refused}, s.Args...))
		})
	}
}

// run runs the program once, checks its outcome, and returns the names in the working directory.
func (s *Situations) run(t *testing.T, dir string, want Outcome, args ...string) (names []string) {
	t.Helper()
	r := Process(t, dir, strings.Repeat("y\n", 3), append(slices.Clone(s.DemoArgs), args...)...)
	assert.Equal(t, want.Code, r.Code, r.Out+r.Err)
	assert.Contains(t, r.Out+r.Err, want.Text)
	entries, err := os.ReadDir(dir)
	assert.NoError(t, err)
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}
