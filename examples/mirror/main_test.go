package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/examples/internal/demotest"
	"github.com/forge-sdk/forge-go/forgetest"
)

// TestMain lets the test binary be the program, so that there is a process to kill.
func TestMain(m *testing.M) {
	if os.Getenv("MIRROR_PROGRAM") != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// process runs the program, and kills it after a time unless that is 0.
func process(t *testing.T, killAfter time.Duration, args ...string) (killed bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), "MIRROR_PROGRAM=1")
	out := filepath.Join(t.TempDir(), "out")
	file, err := os.Create(out)
	require.NoError(t, err)
	defer file.Close()
	cmd.Stdout, cmd.Stderr = file, file
	require.NoError(t, cmd.Start())
	if killAfter > 0 {
		timer := time.AfterFunc(killAfter, func() { _ = cmd.Process.Kill() })
		defer timer.Stop()
	}
	err = cmd.Wait()
	text, _ := os.ReadFile(out)
	if killAfter == 0 {
		require.NoError(t, err, "%s", text)
	}
	return err != nil
}

// The program keeps a copy of a group that changes, although it is killed at drawn moments. A sweep
// removes what was deleted.
func TestKilledMirror(t *testing.T) {
	srv := demotest.Empty(t)
	serveGroup(srv)
	clock := func(minute int) { // a new function each time: a request of a killed program may be running
		srv.SetClock(func() time.Time { return time.Date(2026, time.May, 1, 12, minute, 0, 0, time.UTC) })
	}
	clock(0)
	project, random := srv.AddProject("acme/app"), rand.New(rand.NewPCG(37, 2))
	issues, mrs := project.AddIssues(900, nil), project.AddMergeRequests(300, nil)
	db := filepath.Join(t.TempDir(), "acme.db")

	kills := 0
	for round := range 25 {
		for range 20 {
			issues[random.IntN(len(issues))].Edit(func(d *forgetest.Document) { d.Set("title", fmt.Sprint("round ", round)) })
			mrs[random.IntN(len(mrs))].Edit(func(d *forgetest.Document) { d.Set("title", fmt.Sprint("round ", round)) })
		}
		if process(t, time.Duration(10+random.IntN(300))*time.Millisecond, "-db", db, fmt.Sprintf("-sweep=%t", round%8 == 7)) {
			kills++
		}
		clock(round + 1)
	}
	assert.Greater(t, kills, 5)
	issues[0].Delete()
	mrs[0].Delete()
	process(t, 0, "-db", db)
	process(t, 0, "-db", db)
	process(t, 0, "-db", db, "-sweep")

	s, err := openStore(t.Context(), db)
	require.NoError(t, err)
	defer s.Close()
	assert.Equal(t, 899, s.count(t.Context(), "issues"))
	assert.Equal(t, 299, s.count(t.Context(), "merge requests"))
	for i, issue := range issues[1:] {
		require.Equal(t, issue.Get("title"), title(t, s, "issues", issue.ID), "issue %d", i)
	}
	for i, mr := range mrs[1:] {
		require.Equal(t, mr.Get("title"), title(t, s, "merge requests", mr.ID), "merge request %d", i)
	}
}

func title(t *testing.T, s *store, list string, id int64) (title string) {
	t.Helper()
	require.NoError(t, s.QueryRowContext(context.Background(), `SELECT title FROM items WHERE list = ? AND id = ?`, list, id).Scan(&title))
	return title
}

// With the demo data it shows what it has copied.
func TestDemo(t *testing.T) {
	out, err := demotest.Run(t, run, "")
	require.NoError(t, err)
	assert.Contains(t, out, "issues: ")
	assert.Contains(t, out, "in the copy\nmerge requests: ")
}
