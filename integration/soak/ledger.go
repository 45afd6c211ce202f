package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	forge "github.com/forge-sdk/forge-go"
)

// ledger holds the expected end state. Its size does not depend on the number of calls.
type ledger struct {
	mu         sync.Mutex
	sums       [accounts]account
	opened     int64
	failures   map[string]int
	violations []string
	violated   int
}

// account has the expected spent time of an issue: the hours that are certain, and whether there
// may be one more.
type account struct {
	hours int32
	doubt bool
}

func newLedger() *ledger { return &ledger{failures: map[string]int{}} }

// open returns an unused account.
func (l *ledger) open() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.opened == accounts {
		panic("soak: all accounts are used up: give the bench more of them")
	}
	l.opened++
	return l.opened
}

func (l *ledger) book(number int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sums[number-1].hours++
}

func (l *ledger) doubt(number int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sums[number-1].doubt = true
}

// failed counts a failure by its kind. It reports whether err is one.
func (l *ledger) failed(call string, err error) bool {
	if err == nil {
		return false
	}
	var failed *forge.Error
	if !errors.As(err, &failed) {
		l.violate("%s: a failure that is no *forge.Error: %v", call, err)
		return true
	}
	kind := call + ": " + kindOf(failed)
	if failed.MaybeApplied {
		kind += ", maybe applied"
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failures[kind]++
	return true
}

func kindOf(err *forge.Error) string {
	var network *net.OpError
	switch {
	case err.Status >= 300:
		return strconv.Itoa(err.Status)
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "reset"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "cut"
	case errors.Is(err, forge.ErrTimeout):
		return "silence"
	case errors.Is(err, forge.ErrInvalidResponse), errors.Is(err, forge.ErrChecksum):
		return "garbage"
	case errors.As(err, &network):
		return network.Op
	}
	return err.Error()
}

func (l *ledger) violate(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.violated++; l.violated <= 20 {
		l.violations = append(l.violations, fmt.Sprintf(format, args...))
	}
}

// summary prints the calls and their failures.
func (l *ledger) summary(out io.Writer, stats forge.Stats) {
	l.mu.Lock()
	defer l.mu.Unlock()
	hours, doubts := int32(0), 0
	for _, a := range l.sums[:l.opened] {
		hours += a.hours
		if a.doubt {
			doubts++
		}
	}
	failed := stats.Retries + stats.Failures
	fmt.Fprintf(out, "%d calls in %d attempts, of which %d (%.1f %%) went wrong; %d calls failed\n", stats.Calls, stats.Attempts, failed, 100*float64(failed)/float64(max(1, stats.Attempts)), stats.Failures)
	fmt.Fprintf(out, "%d creates applied, %d maybe\n", hours, doubts)
	for _, kind := range slices.Sorted(maps.Keys(l.failures)) {
		fmt.Fprintf(out, "%9d %s\n", l.failures[kind], kind)
	}
}

// audit compares the ledger with the server's data, bypassing nginx and toxiproxy.
func (s *soak) audit(ctx context.Context, out io.Writer) error {
	report, err := s.bench.heal()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "server: %d requests, %d of them (%.1f %%) spoiled; what toxiproxy spoils comes on top\n",
		report.Requests, report.Faults, 100*float64(report.Faults)/float64(max(1, report.Requests)))
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	direct, err := forge.NewClient(s.bench.Direct, forge.WithToken(s.bench.Token), forge.WithHTTPClient(&http.Client{Transport: transport}))
	if err != nil {
		return err
	}
	for i, sum := range s.books.sums[:s.books.opened] {
		stats, err := direct.Issues.GetTimeStats(ctx, forge.ID(s.bench.Books), int64(i+1))
		if err != nil {
			return err
		}
		hours := int32(stats.TotalTimeSpent / 3600)
		if hours != sum.hours && (!sum.doubt || hours != sum.hours+1) {
			s.books.violate("account %d: %d hours were booked for sure (one more maybe: %t), and the server has %d", i+1, sum.hours, sum.doubt, hours)
		}
	}
	return nil
}

// leftBehind checks for goroutines and connections after the end. It waits up to 5 s for them to
// end.
func (l *ledger) leftBehind(idle int, dialer *dialer) {
	for range 100 {
		if runtime.NumGoroutine() <= idle && dialer.open.Load() == 0 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	stacks := make([]byte, 1<<16)
	l.violate("%d goroutines and %d connections are left:\n%s", runtime.NumGoroutine()-idle, dialer.open.Load(), stacks[:runtime.Stack(stacks, true)])
}

func (l *ledger) verdict(out io.Writer) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.violated == 0 {
		fmt.Fprintln(out, "creates counted, lists complete and in order, contents equal, nothing left behind")
		return nil
	}
	for _, violation := range l.violations {
		fmt.Fprintln(out, "violation:", violation)
	}
	return fmt.Errorf("%d violations", l.violated)
}

// dialer distributes connections over the fronts, for every requested address, and counts the open
// ones.
type dialer struct {
	fronts []string
	next   atomic.Uint64
	open   atomic.Int64
}

func (d *dialer) client() *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: d.dial}}
}

func (d *dialer) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, network, d.fronts[d.next.Add(1)%uint64(len(d.fronts))])
	if err != nil {
		return nil, err
	}
	d.open.Add(1)
	return &counted{Conn: c, close: sync.OnceFunc(func() { d.open.Add(-1) })}, nil
}

// counted is a connection that calls close when it is closed.
type counted struct {
	net.Conn
	close func()
}

// Close closes the connection.
func (c *counted) Close() error {
	c.close()
	return c.Conn.Close()
}
