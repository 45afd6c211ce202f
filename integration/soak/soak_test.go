package main

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	if isBench() {
		exit(serve(os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

// A short run ends without a violation, and its faults have occurred.
func TestSoak(t *testing.T) {
	var out bytes.Buffer
	err := run(t.Context(), &out, 4*time.Second, 16)
	t.Log(out.String())
	require.NoError(t, err)
	assert.Contains(t, out.String(), "maybe applied")
	assert.Contains(t, out.String(), "nothing left behind")
}

// The ledger detects each kind of violation.
func TestLedger(t *testing.T) {
	bench, err := startBench(t.Context())
	require.NoError(t, err)
	defer bench.stop()
	dialer := &dialer{fronts: []string{strings.TrimPrefix(bench.Direct, "http://")}}
	client, err := newClient(bench, dialer)
	require.NoError(t, err)
	defer client.CloseIdleConnections()
	s := &soak{client: client, bench: bench, books: newLedger()}
	lost, doubled, right := s.books.open(), s.books.open(), s.books.open()
	s.books.book(lost)
	s.books.doubt(lost)
	for range 2 {
		s.create(doubled)
	}
	s.books.sums[doubled-1] = account{hours: 0, doubt: true}
	s.create(right)
	s.books.judge(io.Discard, [4]mark{{100_000, 9000, 5000}, {200_000, 9000, 6100}, {300_000, 9000, 7200}, {400_000, 9000, 8300}})

	var out bytes.Buffer
	require.NoError(t, s.audit(t.Context(), &out))
	require.EqualError(t, s.books.verdict(&out), "3 violations")
	assert.Contains(t, out.String(), "violation: account 1: 1 hours were booked for sure (one more maybe: true), and the server has 0")
	assert.Contains(t, out.String(), "violation: account 2: 0 hours were booked for sure (one more maybe: true), and the server has 2")
	assert.Contains(t, out.String(), "violation: the live heap has grown by 1100 KiB in 100000 calls")
}
