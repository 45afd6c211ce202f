package demo

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMain lets the test binary be a program that ends as its first argument says.
func TestMain(m *testing.M) {
	if os.Getenv("DEMO_MAIN") == "" {
		os.Exit(m.Run())
	}
	Main(func(ctx context.Context, args []string, _ io.Reader, _ io.Writer) error {
		switch args[0] {
		case "finding":
			return errors.Join(errors.New("first"), Finding("second"))
		case "error":
			return errors.New("broken")
		case "help":
			return flag.ErrHelp
		case "wait":
			fmt.Println("ready")
			<-ctx.Done()
			return errors.New("stopped")
		}
		return nil
	})
}

// The exit code says how a program ended. One that is stopped ends by itself, so that it removes
// what must not stay.
func TestExitCodes(t *testing.T) {
	t.Setenv("DEMO_MAIN", "1")
	for how, want := range map[string]struct {
		code int
		text string
		stop os.Signal
	}{
		"fine": {0, "", nil}, "help": {0, "", nil}, "finding": {1, "second\n", nil}, "error": {2, "broken\n", nil},
		"wait": {2, "stopped\n", os.Interrupt}, "wait on": {2, "stopped\n", syscall.SIGTERM},
	} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], strings.Fields(how)...)
		var problems strings.Builder
		cmd.Stderr = &problems
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		if want.stop != nil {
			_, err = out.Read(make([]byte, 1))
			require.NoError(t, err)
			require.NoError(t, cmd.Process.Signal(want.stop))
		}
		_ = cmd.Wait()
		assert.Equal(t, want.code, cmd.ProcessState.ExitCode(), how)
		assert.Equal(t, want.text, problems.String(), how)
	}
}

// Only a clear yes is one. Without an answer, or with an interrupt, nothing is changed.
func TestConfirm(t *testing.T) {
	for answer, want := range map[string]bool{"y\n": true, "YES \n": true, "n\n": false, "\n": false, "yep\n": false} {
		sure, err := Confirm(t.Context(), strings.NewReader(answer), io.Discard, false, "Delete it?")
		require.NoError(t, err)
		assert.Equal(t, want, sure, answer)
	}
	for _, cut := range []string{"", "y"} {
		_, err := Confirm(t.Context(), strings.NewReader(cut), io.Discard, false, "?")
		require.ErrorContains(t, err, "-yes goes on without the question")
	}
	silence, speaker := io.Pipe()
	defer speaker.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Confirm(ctx, silence, io.Discard, false, "?")
	require.ErrorIs(t, err, context.Canceled)
	sure, err := Confirm(t.Context(), silence, io.Discard, true, "?")
	require.NoError(t, err)
	assert.True(t, sure, "-yes")
}

func TestWait(t *testing.T) {
	calls := 0
	require.NoError(t, Wait(t.Context(), time.Minute, func() (bool, error) { calls++; return calls == 2, nil }))
	assert.Equal(t, 2, calls)
	require.NoError(t, Wait(t.Context(), 0, func() (bool, error) { return false, nil }), "the time is over")
	require.ErrorIs(t, Wait(t.Context(), time.Minute, func() (bool, error) { return false, io.EOF }), io.EOF)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, Wait(ctx, time.Minute, func() (bool, error) { return false, nil }), context.Canceled)
}

// The environment names a server; without it there is the embedded one, and only
// there may a flag for files be missing.
func TestServer(t *testing.T) {
	t.Setenv("FORGE_URL", "")
	var out strings.Builder
	embedded, err := Connect(&out, "tool")
	require.NoError(t, err)
	defer embedded.Close()
	_, err = embedded.Client.Users.GetCurrent(t.Context(), nil)
	require.NoError(t, err)
	path, remove, err := embedded.Path(&out, "-dir", "", "audit")
	require.NoError(t, err)
	require.NoError(t, SaveBytes(path, false, nil))
	remove()
	assert.NoDirExists(t, filepath.Dir(path))

	t.Setenv("FORGE_URL", "https://forge.example.com")
	t.Setenv("FORGE_TOKEN", "secret-of-mine")
	named, err := Connect(&out, "tool")
	require.NoError(t, err)
	assert.Contains(t, out.String(), "Server  https://forge.example.com/api/v4\n")
	assert.NotContains(t, out.String(), "secret-of-mine")
	_, _, err = named.Path(&out, "-dir", "", "audit")
	require.EqualError(t, err, "-dir is missing: it names what to write to")
}

// The table of examples has each of them, and nothing else.
func TestReadmeHasAllPrograms(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	programs, err := filepath.Glob("../../*/main.go")
	require.NoError(t, err)
	for _, path := range programs {
		name := filepath.Base(filepath.Dir(path))
		assert.Contains(t, string(readme), fmt.Sprintf("| [%s](%s/main.go) |", name, name))
	}
	assert.Equal(t, len(programs), strings.Count(string(readme), "/main.go) |"))
}
