package demotest

import (
	"bytes"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/forgetest"
)

// Interrupt runs a program as a process and interrupts it at its first request, then at its second
// one, and so on, until a run has no further request. An interrupted program must fail, and must
// not print done, the text that it prints at the end. start creates a server, sets the environment
// to it, and returns the arguments of a run. Interrupt returns the number of requests at which it
// interrupted the program.
func Interrupt(t *testing.T, done string, start func(t *testing.T) (*forgetest.Server, []string)) (requests int) {
	t.Helper()
	for ended := false; !ended; requests++ {
		t.Run(fmt.Sprint("request ", requests+1), func(t *testing.T) {
			srv, args := start(t)
			srv.Fail("*", forgetest.Delay(time.Hour).After(requests))
			var code int
			var out string
			if ended, code, out = interrupt(t, srv, requests, args); ended {
				assert.Contains(t, out, done, "the run that is not interrupted")
				return
			}
			assert.NotZero(t, code, out)
			assert.NotContains(t, out, done)
		})
	}
	return requests - 1
}

// interrupt runs the program and interrupts it when it has sent more than n requests. The program
// may end before that.
func interrupt(t *testing.T, srv *forgetest.Server, n int, args []string) (ended bool, code int, out string) {
	t.Helper()
	var text bytes.Buffer
	cmd := Command(t, args...)
	cmd.Stdout, cmd.Stderr = &text, &text
	before := srv.CountRequests("*")
	require.NoError(t, cmd.Start())
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		_ = cmd.Wait() // the exit code is enough
	}()
	for srv.CountRequests("*") <= before+n {
		select {
		case <-exited:
			return true, cmd.ProcessState.ExitCode(), text.String()
		case <-time.After(time.Millisecond):
		}
	}
	assert.NoError(t, cmd.Process.Signal(os.Interrupt))
	select {
	case <-exited:
	case <-time.After(20 * time.Second):
		_ = cmd.Process.Kill()
		<-exited
		t.Error("the program does not end")
	}
	return false, cmd.ProcessState.ExitCode(), text.String()
}
