package demo

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
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

func TestExitCodes(t *testing.T) {
	t.Setenv("DEMO_MAIN", "1")
	for how, want := range map[string]struct {
		code int
		text string
	}{"fine": {0, ""}, "help": {0, ""}, "finding": {1, "second\n"}, "error": {2, "broken\n"}} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], how)
		var problems strings.Builder
		cmd.Stderr = &problems
		_ = cmd.Run()
		assert.Equal(t, want.code, cmd.ProcessState.ExitCode(), how)
		assert.Equal(t, want.text, problems.String(), how)
	}
}

// A program that is stopped ends by itself, so that it removes what must not stay.
func TestSignals(t *testing.T) {
	t.Setenv("DEMO_MAIN", "1")
	for _, sent := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "wait")
		var problems strings.Builder
		cmd.Stderr = &problems
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		_, err = out.Read(make([]byte, 1))
		require.NoError(t, err)
		require.NoError(t, cmd.Process.Signal(sent))
		_ = cmd.Wait()
		assert.Equal(t, 2, cmd.ProcessState.ExitCode(), sent)
		assert.Equal(t, "stopped\n", problems.String(), sent)
	}
}

func TestConfirm(t *testing.T) {
	for answer, want := range map[string]bool{"y\n": true, "YES \n": true, "n\n": false, "\n": false, "yep\n": false} {
		var out strings.Builder
		sure, err := Confirm(t.Context(), strings.NewReader(answer), &out, "Delete it?")
		require.NoError(t, err)
		assert.Equal(t, want, sure, answer)
		assert.Equal(t, "\nDelete it? [y/N] ", out.String())
	}
	for _, cut := range []string{"", "y"} {
		_, err := Confirm(t.Context(), strings.NewReader(cut), io.Discard, "?")
		require.ErrorContains(t, err, "-yes goes on without the question")
	}
}

// An interrupt ends the question, though nobody has answered it.
func TestConfirmIsInterrupted(t *testing.T) {
	silence, speaker := io.Pipe()
	defer speaker.Close()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(5*time.Millisecond, cancel)
	_, err := Confirm(ctx, silence, io.Discard, "?")
	require.EqualError(t, err, "interrupted: nothing was changed")
}

func TestParse(t *testing.T) {
	flags := func() *flag.FlagSet {
		f := flag.NewFlagSet("tool", flag.ContinueOnError)
		f.Int("n", 1, "how many")
		return f
	}
	var out strings.Builder
	require.NoError(t, Parse(flags(), []string{"-n", "2"}, &out))
	require.ErrorContains(t, Parse(flags(), []string{"-m"}, &out), "not defined: -m (-help lists the flags)")
	require.ErrorContains(t, Parse(flags(), []string{"-n", "x"}, &out), "-help lists")
	require.EqualError(t, Parse(flags(), []string{"-n", "2", "x"}, &out), `"x" is not a flag (-help lists them)`)
	assert.Empty(t, out.String())
	require.ErrorIs(t, Parse(flags(), []string{"-help"}, &out), flag.ErrHelp)
	assert.Contains(t, out.String(), "how many")
}

func TestConnect(t *testing.T) {
	t.Setenv("FORGE_URL", "")
	var out strings.Builder
	server, err := Connect(&out, "tool")
	require.NoError(t, err)
	defer server.Close()
	assert.True(t, server.Embedded)
	assert.Contains(t, out.String(), "embedded, demo data")
	_, err = server.Client.Users.GetCurrent(t.Context(), nil)
	require.NoError(t, err)

	t.Setenv("FORGE_URL", "https://forge.example.com")
	t.Setenv("FORGE_TOKEN", "")
	_, err = Connect(&out, "tool")
	require.ErrorContains(t, err, "FORGE_TOKEN")
	t.Setenv("FORGE_TOKEN", "secret-of-mine")
	out.Reset()
	server, err = Connect(&out, "tool")
	require.NoError(t, err)
	assert.False(t, server.Embedded)
	assert.Equal(t, "Server  https://forge.example.com/api/v4\n\n", out.String())

	t.Setenv("FORGE_VOCABULARY", "other")
	_, err = Connect(&out, "tool")
	require.EqualError(t, err, `FORGE_VOCABULARY is "other": there is only gitlab`)
}

func TestSmallWords(t *testing.T) {
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	for want, age := range map[string]time.Duration{"40s": 40 * time.Second, "12m": 12*time.Minute + 50*time.Second, "47h": 47 * time.Hour, "2d": 49 * time.Hour, "0s": -time.Hour} {
		assert.Equal(t, want, Ago(now, now.Add(-age)))
	}
	assert.Equal(t, "never", Ago(now, time.Time{}))
	assert.Equal(t, []string{"0 tags", "1 tag", "2 tags"}, []string{Count(0, "tag"), Count(1, "tag"), Count(2, "tag")})
	assert.Equal(t, forge.ID(42), Ref("42"))
	assert.Equal(t, forge.Path("group/42"), Ref("group/42"))
	assert.Equal(t, now, ServerTime(&forge.Response{Header: http.Header{"Date": {now.Format(http.TimeFormat)}}}).UTC())
	assert.WithinDuration(t, time.Now(), ServerTime(&forge.Response{}), time.Minute)
}

// Each program is run in the situations that every user meets, except quickstart, whose own tests
// check its folders and faults.
func TestAllSituations(t *testing.T) {
	programs, err := filepath.Glob("../../*/main.go")
	require.NoError(t, err)
	for _, path := range programs {
		name := filepath.Base(filepath.Dir(path))
		if name == "quickstart" {
			continue
		}
		text, err := os.ReadFile(filepath.Join("../..", name, "interrupt_test.go"))
		require.NoError(t, err)
		assert.Contains(t, string(text), "demotest.Situations{", name)
	}
}

// The table of examples has each of them, and nothing else.
func TestReadmeHasAllPrograms(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	programs, err := filepath.Glob("../../*/main.go")
	require.NoError(t, err)
	require.Greater(t, len(programs), 6)
	for _, path := range programs {
		name := filepath.Base(filepath.Dir(path))
		row := fmt.Sprintf("| [%s](%s/main.go) |", name, name)
		assert.Contains(t, string(readme), row)
		command := "`go run ./examples/" + name + "`"
		if _, err := os.Stat(filepath.Join(filepath.Dir(path), "go.mod")); err == nil {
			command = "`cd examples/" + name + " && go run .`"
		}
		assert.Contains(t, string(readme), command)
	}
	assert.Equal(t, len(programs), strings.Count(string(readme), "/main.go) |"))
}
