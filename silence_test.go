package forge

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

// silenceEnd is what ends a call that meets silence.
type silenceEnd string

const (
	byCancel   silenceEnd = "cancel"
	byDeadline silenceEnd = "deadline"
	byHeader   silenceEnd = "HeaderTimeout"
	byDefault  silenceEnd = "the default limits"
)

// silenceCell is a call that meets silence.
type silenceCell struct {
	point silencePoint
	kind  silenceKind
	end   silenceEnd
}

func (c silenceCell) String() string {
	return fmt.Sprintf("%s, %s, by %s", c.point.name, c.kind.name, c.end)
}

func silenceCells(ends ...silenceEnd) (cells []silenceCell) {
	for _, point := range silencePoints() {
		for _, kind := range point.kinds() {
			for _, end := range ends {
				if end != byHeader || point.head {
					cells = append(cells, silenceCell{point, kind, end})
				}
			}
		}
	}
	return cells
}

// wrong says what is wrong with the call's end; empty for nothing. Where no response is awaited any
// more, a call may end by itself before it is ended.
func (c silenceCell) wrong(err error) string {
	is := func(causes ...error) bool {
		return slices.ContainsFunc(causes, func(cause error) bool { return errors.Is(err, cause) })
	}
	good := strings.Contains(c.point.text, " 200 OK")
	var e *Error
	var timeout net.Error
	switch {
	case err == nil && c.kind.name == execKind && good && c.point.token == "" && c.point.text != "" && !c.point.head:
		return "" // the head says that it was done
	case !errors.As(err, &e):
		return fmt.Sprintf("no *Error: %v", err)
	case c.point.name == "after a 101" && is(ErrAnswer), c.point.name == "in a redirect's body" && is(ErrRedirect):
		return ""
	case c.point.name == "after a 101" && (c.end == byHeader || c.end == byDefault):
		return fmt.Sprintf("not ErrAnswer: %v", err)
	case (c.end == byHeader || c.end == byDefault) && is(context.Canceled, context.DeadlineExceeded):
		return fmt.Sprintf("the caller's context has not ended: %v", err)
	case c.end == byDefault && c.point.secure && !c.point.proxy && errors.As(err, &timeout) && timeout.Timeout():
		return "" // net/http's own limit
	case c.end == byCancel && is(context.Canceled), c.end == byDeadline && is(context.DeadlineExceeded),
		c.end == byHeader && is(ErrTimeout), c.end == byDefault && is(ErrTimeout):
		return ""
	case c.end == byDefault && (c.point.name == "in an error body" && is(ErrServer) || c.point.token != "" && is(ErrCredential)):
		return ""
	}
	return err.Error()
}

// outcome runs the call against the server, and says what is wrong.
func (c silenceCell) outcome(t *testing.T, s *silentPeer, watch time.Duration) string {
	policy := RetryPolicy{MaxAttempts: 2, MinWait: 1, MaxWait: 1}
	if c.end == byDefault {
		policy.MaxAttempts = 1
	}
	client := s.client(t, policy)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var opts []RequestOption
	switch c.end {
	case byDeadline:
		ctx, cancel = context.WithTimeout(ctx, 80*time.Millisecond)
		defer cancel()
	case byHeader:
		opts = append(opts, HeaderTimeout(80*time.Millisecond))
	}
	began, done := time.Now(), make(chan error, 1)
	go func() { done <- c.kind.run(ctx, client, opts...) }()
	err, ended := c.await(done, s, cancel, watch)
	took := time.Since(began)
	client.CloseIdleConnections()
	open := s.finish()
	switch {
	case !ended:
		return "the call hangs"
	case open > 0:
		return fmt.Sprintf("%d connections stay open", open)
	case c.end == byDefault && took > 2*time.Minute:
		return fmt.Sprintf("it took %s", took)
	}
	return c.wrong(err)
}

// await cancels the call, where the cell wants that, and waits for its end.
func (c silenceCell) await(done <-chan error, s *silentPeer, cancel func(), watch time.Duration) (error, bool) { //nolint:revive // the result first
	timer := time.NewTimer(watch)
	defer timer.Stop()
	if c.end == byCancel {
		select {
		case <-s.reached:
			time.Sleep(10 * time.Millisecond) // so that the call has seen what came before
			cancel()
		case <-timer.C:
		}
	}
	select {
	case err := <-done:
		return err, true
	case <-timer.C:
		s.hangUp()
		return <-done, false
	}
}

// From each point of an exchange on the peer sends nothing more, and reads nothing. Every kind of
// call ends when its context is cancelled, by its deadline, by HeaderTimeout where no response has
// begun, and without any of them by the default limits. No goroutine and no connection stays.
func TestSilence(t *testing.T) {
	t.Run("connections", func(t *testing.T) {
		defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
		var running sync.WaitGroup
		slots := make(chan struct{}, 16) // most of them wait
		cells := silenceCells(byCancel, byDeadline, byHeader)
		t.Logf("%d calls", len(cells))
		for _, cell := range cells {
			slots <- struct{}{}
			running.Go(func() {
				defer func() { <-slots }()
				if wrong := cell.overTCP(t); wrong != "" {
					t.Errorf("%s: %s", cell, wrong)
				}
			})
		}
		running.Wait()
	})
	t.Run("default limits", func(t *testing.T) {
		for _, cell := range silenceCells(byDefault, byCancel, byDeadline) {
			if cell.end != byDefault && cell.point.token == "" {
				continue
			}
			t.Run(cell.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					peer := newSilentPeer(cell.point, cell.kind, newPipeListener(), 2*time.Minute)
					if wrong := cell.outcome(t, peer, time.Hour); wrong != "" {
						t.Error(wrong)
					}
				})
			})
		}
	})
}

// overTCP runs the cell over a real connection. The request for a token may outlive its call, as
// others may wait for the token too: that it ends is shown in virtual time.
func (c silenceCell) overTCP(t *testing.T) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err.Error()
	}
	patience := 10 * time.Second
	if c.point.token != "" {
		patience = 0
	}
	return c.outcome(t, newSilentPeer(c.point, c.kind, listener, patience), 10*time.Second)
}
