package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/examples/internal/demo"
	"github.com/forge-sdk/forge-go/examples/internal/demotest"
	"github.com/forge-sdk/forge-go/forgetest"
)

// TestThreeNights exports three days in three nights. Each night is interrupted at drawn places,
// kills included, while the server gets new events. Then each event of the three days is in one
// file, once, as the server has it, and no event of the fourth day is in any. FORGE_SEED draws
// other places.
func TestThreeNights(t *testing.T) {
	seed, err := strconv.ParseUint(os.Getenv("FORGE_SEED"), 10, 64)
	if err != nil {
		seed = 20260101
	}
	t.Logf("FORGE_SEED=%d", seed)
	n := nights{t: t, srv: target(t, 0), random: rand.New(rand.NewPCG(seed, 0)), dir: filepath.Join(t.TempDir(), "audit")} //nolint:gosec // drawn, and not secret
	days := []time.Time{firstDay, firstDay.AddDate(0, 0, 1), firstDay.AddDate(0, 0, 2)}
	for _, day := range days {
		n.fill(day)
		n.srv.SetClock(nightAfter(day))
		completed := false
		for range 2 + n.random.IntN(3) {
			completed = completed || n.crash()
		}
		n.srv.ClearFaults()
		if !completed {
			r := demotest.Process(t, t.TempDir(), "", "-dir", n.dir)
			require.Zero(t, r.Code, r.Err)
			assert.Contains(t, r.Out, "which has all events from 2020-01-01 to "+date(day)+".\n")
		}
		r := demotest.Process(t, t.TempDir(), "", "-dir", n.dir)
		assert.Equal(t, 1, r.Code, "%s: the second run of a night", r.Out)
	}
	total := 0
	for _, day := range days {
		total += assertDay(t, n.srv, n.dir, day)
	}
	assert.Greater(t, total, 3*minimum)
	assert.Positive(t, n.kills+n.failures)
	assert.Positive(t, n.late, "no event was created while a run was in progress")
	assert.NoFileExists(t, filepath.Join(n.dir, "2020-01-04.ndjson"))
	t.Logf("%s; %s, %d after a part of a page was written; %s",
		demo.Count(total, "event"), demo.Count(n.kills, "kill"), n.torn, demo.Count(n.failures, "failure"))
}

// minimum is how many events a day has at least.
const minimum = 250

type nights struct {
	t                           *testing.T
	srv                         *forgetest.Server
	random                      *rand.Rand
	dir                         string
	kills, torn, failures, late int
}

// fill adds events at drawn times of a day, and at its first and its last moments.
func (n *nights) fill(day time.Time) {
	at := []time.Duration{0, 0, time.Millisecond, 24*time.Hour - time.Millisecond, 24*time.Hour - 500*time.Millisecond, 24*time.Hour - time.Second}
	for range minimum + n.random.IntN(300) {
		at = append(at, time.Duration(n.random.Int64N(int64(24*time.Hour/time.Millisecond)))*time.Millisecond)
	}
	for _, after := range at {
		n.srv.AddAuditEvent(func(event *forgetest.Document) { event.Set("created_at", day.Add(after)) })
	}
}

// crash starts a run that cannot get further than a drawn request. It is killed there, or ends with
// an error. Meanwhile the server gets events. A run with fewer requests completes the night.
func (n *nights) crash() (completed bool) {
	n.srv.ClearFaults()
	requests := n.random.IntN(5)
	args := []string{"-dir", n.dir, "-ahead", strconv.Itoa([]int{0, 1, 8}[n.random.IntN(3)])}
	if n.random.IntN(4) == 0 {
		n.srv.Fail(route, forgetest.Status(403).After(requests))
		n.happen()
		n.failures++
		return demotest.Process(n.t, n.t.TempDir(), "", args...).Code == 0
	}
	seen := n.srv.CountRequests(route)
	n.srv.Fail(route, forgetest.HeaderDelay(time.Hour).After(requests))
	cmd, ended := demotest.Command(n.t, args...), make(chan error, 1)
	require.NoError(n.t, cmd.Start())
	go func() { ended <- cmd.Wait() }()
	for n.srv.CountRequests(route) <= seen+requests {
		select {
		case err := <-ended:
			require.NoError(n.t, err)
			return true
		case <-time.After(time.Millisecond):
		}
	}
	n.happen()
	require.NoError(n.t, cmd.Process.Kill())
	require.Error(n.t, <-ended)
	n.kills++
	n.look()
	return false
}

// happen adds events of the present.
func (n *nights) happen() {
	for range n.random.IntN(4) {
		n.srv.AddAuditEvent(nil)
		n.late++
	}
}

// look checks what a killed run has left: the state is never ahead of the file.
func (n *nights) look() {
	var s state
	text, err := os.ReadFile(filepath.Join(n.dir, "audit-export.json"))
	if os.IsNotExist(err) {
		return
	}
	require.NoError(n.t, err)
	require.NoError(n.t, json.Unmarshal(text, &s), "the state is never incomplete")
	info, err := os.Stat(filepath.Join(n.dir, date(s.Day)+".ndjson.part"))
	if os.IsNotExist(err) {
		require.Zero(n.t, s.Bytes)
		return
	}
	require.NoError(n.t, err)
	require.GreaterOrEqual(n.t, info.Size(), s.Bytes)
	if info.Size() > s.Bytes {
		n.torn++
	}
}

// A run that is killed between two steps of its files leaves one of these folders. The same command
// completes each.
func TestKilledBetweenFiles(t *testing.T) {
	whole := func(t *testing.T) (srv *forgetest.Server, dir string, before state, day []byte) {
		srv = target(t, 350)
		dir = t.TempDir()
		srv.Fail(route, forgetest.Status(403).After(3))
		_, err := exportTo(t, "-dir", dir, "-ahead", "0")
		require.ErrorContains(t, err, "2020-01-01.ndjson.part has 100 events; the same command continues after them")
		before = readState(t, dir)
		srv.ClearFaults()
		_, err = exportTo(t, "-dir", dir)
		require.NoError(t, err)
		day, err = os.ReadFile(filepath.Join(dir, "2020-01-01.ndjson"))
		require.NoError(t, err)
		return srv, dir, before, day
	}
	done := func(before state, day []byte) state {
		before.Cursor, before.Bytes, before.Events = finished(t), int64(len(day)), 350
		return before
	}
	for name, change := range map[string]func(dir string, before state, day []byte){
		"before the first state": func(dir string, _ state, day []byte) {
			write(t, dir, "2020-01-01.ndjson.part", day[:100])
		},
		"after a part of a page": func(dir string, before state, day []byte) {
			write(t, dir, "2020-01-01.ndjson.part", day[:before.Bytes+777])
			writeState(t, dir, before)
		},
		"with something else behind the state": func(dir string, before state, day []byte) {
			write(t, dir, "2020-01-01.ndjson.part", append(day[:before.Bytes:before.Bytes], strings.Repeat(`{"id":9,"details":{"cus`, 10_000)...))
			writeState(t, dir, before)
		},
		"after the last page, before the rename": func(dir string, before state, day []byte) {
			write(t, dir, "2020-01-01.ndjson.part", day)
			writeState(t, dir, done(before, day))
		},
		"after the rename": func(dir string, before state, day []byte) {
			write(t, dir, "2020-01-01.ndjson", day)
			writeState(t, dir, done(before, day))
		},
		"while the state was replaced": func(dir string, before state, day []byte) {
			write(t, dir, "2020-01-01.ndjson.part", day[:before.Bytes])
			writeState(t, dir, before)
			write(t, dir, ".forge-X.part", []byte(`{"sou`))
		},
		"and lost the file": func(dir string, before state, _ []byte) { writeState(t, dir, before) },
		"in the first page, with a cursor of another version": func(dir string, before state, _ []byte) {
			write(t, dir, "2020-01-01.ndjson.part", nil)
			before.Cursor, before.Bytes, before.Events = "0.x.y", 0, 0
			writeState(t, dir, before)
		},
		"and lost the end of the file": func(dir string, before state, day []byte) {
			write(t, dir, "2020-01-01.ndjson.part", day[:before.Bytes-1])
			writeState(t, dir, before)
		},
	} {
		t.Run(name, func(t *testing.T) {
			srv, dir, before, day := whole(t)
			for _, name := range []string{"2020-01-01.ndjson", "audit-export.json"} {
				require.NoError(t, os.Remove(filepath.Join(dir, name)))
			}
			change(dir, before, day)
			_, err := exportTo(t, "-dir", dir)
			require.NoError(t, err)
			assertDay(t, srv, dir, firstDay)
			assert.NoFileExists(t, filepath.Join(dir, "2020-01-01.ndjson.part"))
			_, err = exportTo(t, "-dir", dir)
			require.ErrorContains(t, err, "nothing to export")
		})
	}
}

// finished returns the cursor of a list that has ended.
func finished(t *testing.T) forge.Cursor {
	t.Helper()
	var page forge.Response
	_, err := forge.Collect(forgetest.New(t).Client().AuditEvents.List(t.Context(), nil, forge.Into(&page)))
	require.NoError(t, err)
	require.True(t, page.Cursor.Done())
	return page.Cursor
}

func readState(t *testing.T, dir string) (s state) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "audit-export.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &s))
	return s
}

func writeState(t *testing.T, dir string, s state) {
	t.Helper()
	text, err := json.Marshal(s)
	require.NoError(t, err)
	write(t, dir, "audit-export.json", text)
}

func write(t *testing.T, dir, name string, content []byte) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), content, 0o600))
}

// The events around midnight are in one file each: of the day that they belong to.
func TestMidnight(t *testing.T) {
	srv := target(t, 0)
	want := map[string]int{}
	for i, after := range []time.Duration{-time.Second, -time.Millisecond, 0, time.Millisecond, 24*time.Hour - 1*time.Millisecond, 24 * time.Hour} {
		at := firstDay.Add(after)
		want[date(at)]++
		srv.AddAuditEvent(func(event *forgetest.Document) {
			event.Set("created_at", at).Set("details.custom_message", fmt.Sprint("moment ", i))
		})
	}
	require.Equal(t, map[string]int{"2019-12-31": 2, "2020-01-01": 3, "2020-01-02": 1}, want)
	srv.SetClock(nightAfter(firstDay.AddDate(0, 0, 1)))
	dir := t.TempDir()
	out, err := exportTo(t, "-dir", dir, "-since", "2019-12-31")
	require.NoError(t, err)
	assert.Contains(t, out, "Exported 3 days")
	query := srv.LastRequest(t, route).Query
	assert.Equal(t, "2020-01-02T00:00:00Z", query.Get("created_after"))
	assert.Equal(t, "2020-01-03T00:00:00Z", query.Get("created_before"), "23:59:59 would omit the events of the last second")
	for day, events := range want {
		at, err := time.Parse(time.DateOnly, day)
		require.NoError(t, err)
		assert.Equal(t, events, assertDay(t, srv, dir, at))
	}
}
