package throttle

import (
	"bufio"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The Date of a response is cut to the second, so that the latest one is the most exact, until the
// server's clock goes back.
func TestWindowClock(t *testing.T) {
	type times struct{ server, used float64 }
	for _, sequence := range [][]times{{{10, 10}, {10.5, 10.5}, {9.6, 10.5}, {8.5, 10.5}, {8.4, 8.4}, {-30, -30}}, {{-1, -1}, {-2, -1}}} {
		w, now := new(window), time.Now()
		for _, seconds := range sequence {
			ahead := func(seconds float64) time.Time { return now.Add(time.Duration(seconds * float64(time.Second))) }
			assert.Equal(t, ahead(60-seconds.used), w.localTime(ahead(60), ahead(seconds.server), now), "%v", seconds)
		}
	}
}

// Two responses of one window are two bounds of what is left: those in flight were counted before
// the request or not, unless a response shows it. A response with another end is of another window,
// whose requests others have not used.
func TestWindowOfAResponse(t *testing.T) {
	w, now := new(window), time.Now()
	end := now.Add(time.Minute)
	tickets := make([]*Ticket, 6)
	for i := range tickets {
		tickets[i] = w.send(now.Add(time.Duration(i) * time.Second))
	}
	now = now.Add(6 * time.Second)
	for _, said := range []struct {
		ticket, remaining   int
		until               time.Time
		fewest, most, limit int
		own, others         int
		fresh               int
	}{
		{1, 10, end, 5, 10, 11, 6, 0, 2}, // sent at 1, counted at 3.5: the last two are after it
		{4, 8, end, 4, 8, 11, 7, 0, 1},   // and so is one that is sent now: the bounds come closer
		{0, 12, end, 6, 8, 13, 7, 0, 1},
		{2, 8, end.Add(sameWindow), 6, 7, 13, 7, 0, 1},    // the same window
		{3, 2, end.Add(-time.Second), 1, 1, 13, 7, 5, 1},  // others have used five
		{5, 30, end.Add(sameWindow), 24, 30, 31, 0, 0, 1}, // another window
		{5, 70, now, 24, 30, 31, 0, 0, 1},                 // of the past
	} {
		ticket := tickets[said.ticket]
		w.done++
		w.arrive(ticket, now)
		w.observe(ticket, statement{remaining: said.remaining, until: said.until}, now)
		assert.Equal(t, []int{said.fewest, said.most, said.limit, said.own, said.others, said.fresh}, []int{w.fewest, w.most, w.limit, w.own, w.others, len(w.fresh)}, "%v", said)
		if said.ticket == 1 {
			w.send(now)
		}
	}
	assert.Equal(t, end.Add(sameWindow), w.until)

	// The window has ended when the next one is seen, however close the two ends are.
	now, w.own, w.others = w.until, 9, 4
	ticket := w.send(now)
	w.done++
	w.arrive(ticket, now)
	w.observe(ticket, statement{remaining: 40, until: now.Add(1)}, now)
	assert.Equal(t, []int{10, 4, 0, 0}, []int{w.lastOwn, w.lastOthers, w.own, w.others})
	assert.Equal(t, now.Add(1), w.until)
	assert.Equal(t, []int{40, 40}, []int{w.fewest, w.most})
}

// The record of throttles does not grow, by routes or by names.
func TestPacerMemory(t *testing.T) {
	for _, changes := range [][2]int{{1, 1}, {0, 1}, {1, 0}} {
		var p Pacer
		var most [2]int
		for i := range 2 * maxRemembered {
			route := Route{Template: strconv.Itoa(i * changes[0])}
			p.windowOf(route)
			p.learn(&Ticket{route: route}, strconv.Itoa(i*changes[1]))
			most = [2]int{max(most[0], len(p.routes)), max(most[1], len(p.throttles))}
		}
		assert.Equal(t, [2]int{1 + maxRemembered*changes[0], 1 + maxRemembered*changes[1]}, most)
	}
}

// When the next request may be sent, and when the last of those that wait will be, by what is known
// of the window.
func TestWindowTimes(t *testing.T) {
	now := time.Now()
	in := func(seconds float64) time.Time { return now.Add(time.Duration(seconds * float64(time.Second))) }
	end, last := in(60), in(-1)
	for name, test := range map[string]struct {
		window         window
		waiting        int
		next, estimate time.Time
		left           int
	}{
		"it has ended":                  {window{until: in(-1), limit: 100, peak: 100, last: last}, 1, now, now, 50},
		"nothing is known":              {window{last: last}, 3, now, now, 0},
		"a trial":                       {window{trial: in(1), most: 1, fewest: 1, last: last}, 3, now, now, 1},
		"a trial whose share is sent":   {window{trial: in(1), last: last}, 3, in(1), in(1), 0},
		"used up":                       {window{until: end, limit: 100, last: last}, 1, end, end, 0},
		"enough for all":                {window{until: end, fewest: 3, most: 3, limit: 100, last: last}, 3, now, in(2), 3},
		"enough for all but one":        {window{until: end, fewest: 3, most: 3, limit: 100, last: now}, 4, in(15), end, 3},
		"evenly":                        {window{until: end, fewest: 3, most: 3, limit: 100, last: now, busy: true, sent: 5, done: 3}, 2, in(15), in(30), 3},
		"the last after the end":        {window{until: end, fewest: 3, most: 3, limit: 100, last: in(-40)}, 3, now, end, 3},
		"those in flight":               {window{until: end, fewest: 3, most: 3, limit: 100, last: last, sent: 5, done: 3}, 3, now, in(2), 3},
		"the share that is free":        {window{until: end, fewest: 51, most: 51, limit: 100, last: last}, 90, now, end, 51},
		"no more than is free":          {window{until: end, fewest: 50, most: 50, limit: 100, last: in(0)}, 51, in(60. / 51), end, 50},
		"close bounds":                  {window{until: end, fewest: 2, most: 6, limit: 100, last: now}, 3, in(20), end, 2},
		"bounds that are not close":     {window{until: end, most: 5, limit: 100, last: last}, 1, now, now, 5},
		"such bounds, awaited":          {window{until: end, most: 5, limit: 100, last: last, busy: true}, 1, end, end, 0},
		"others in a first window":      {window{until: end, fewest: 8, most: 8, limit: 100, last: now, own: 60, others: 20}, 5, in(12), in(60), 8},
		"others in a second window":     {window{until: end, fewest: 8, most: 8, limit: 100, last: now, own: 40, others: 10, lastOwn: 20, lastOthers: 10}, 7, in(60. / 7), in(60), 8},
		"others, and one in flight":     {window{until: end, fewest: 8, most: 8, limit: 100, last: now, own: 60, others: 20, sent: 2, done: 1}, 3, in(60. / 4.5), in(40), 8},
		"few others":                    {window{until: end, fewest: 8, most: 8, limit: 100, last: last, own: 80, others: 10}, 8, now, in(7), 8},
		"others that leave almost none": {window{until: end, fewest: 20, most: 20, limit: 100, last: now, others: 90, lastOwn: 1}, 3, in(20), end, 20},
	} {
		w := test.window
		assert.WithinDuration(t, test.next, w.next(test.waiting, now), time.Millisecond, name)
		assert.WithinDuration(t, test.estimate, w.estimate(test.waiting, now), time.Millisecond, name)
		assert.Equal(t, test.left, w.left(), name)
	}
}

// The window after one that has ended begins with a trial, if callers have waited for it.
func TestWindowAfterWindow(t *testing.T) {
	now := time.Now()
	for name, test := range map[string]struct {
		window window
		left   int
		share  float64
		trial  bool
	}{
		"not yet":           {window{until: now.Add(1), peak: 100, fewest: 7, most: 7, own: 3}, 7, 1, false},
		"not used up":       {window{until: now, peak: 100, fewest: 7, most: 7}, 7, 1, false},
		"used up":           {window{until: now, peak: 100}, 50, 1, true},
		"used up, long ago": {window{until: now.Add(-sameWindow), peak: 100}, 0, 1, false},
		"a caller waits":    {window{until: now, peak: 100, fewest: 7, most: 7, queue: []*waiter{nil}}, 50, 1, true},
		"a small window":    {window{until: now, peak: 1}, 1, 1, true},
		"one left":          {window{until: now, peak: 100, fewest: 1, most: 1}, 1, 1, false},
		"others":            {window{until: now, peak: 100, own: 30, others: 60, lastOwn: 50, lastOthers: 50}, 16, 1. / 3, true},
	} {
		w := test.window
		w.limit = 1000
		w.roll(now)
		assert.Equal(t, test.left, w.left(), name)
		assert.InDelta(t, test.share, w.share(), 0.01, name)
		assert.Equal(t, test.trial, w.trial.Equal(now.Add(longestTrial)), name)
		assert.Equal(t, test.trial, w.busy, name)
		if name != "not yet" {
			assert.Equal(t, test.window.peak, w.limit, name)
			assert.True(t, w.until.IsZero() && w.peak == 0, name)
		}
	}
}

// The headers of a response that are read, and those of a cache, which are not.
func TestReadStatement(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	for headers, want := range map[string]statement{
		"":                       {},
		"Ratelimit-Remaining: 5": {},
		"Ratelimit-Remaining: x\r\nRatelimit-Reset: 10":                                        {},
		"Ratelimit-Remaining: 5\r\nRatelimit-Reset: -5":                                        {},
		"Ratelimit-Remaining: 5\r\nRatelimit-Reset: 1099511627777":                             {},
		"Ratelimit-Remaining: 5\r\nRatelimit-Reset: 1099511627776":                             {"", 5, time.Unix(1<<40, 0)},
		"Ratelimit-Remaining: 5\r\nRatelimit-Reset: 536870912":                                 {"", 5, now.Add(1 << 29 * time.Second)},
		"Ratelimit-Remaining: 5\r\nRatelimit-Reset: 536870913":                                 {"", 5, time.Unix(1<<29+1, 0)},
		"Ratelimit-Remaining: 5\r\nRatelimit-Reset: 10":                                        {"", 5, now.Add(10 * time.Second)},
		"Ratelimit-Remaining: 0010\r\nRatelimit-Reset: 10\r\nRatelimit-Name: throttle_a":       {"throttle_a", 10, now.Add(10 * time.Second)},
		"Ratelimit-Remaining: -5\r\nRatelimit-Reset: 1700000020":                               {"", 0, now.Add(20 * time.Second)},
		"Ratelimit-Remaining: 9000000000\r\nRatelimit-Reset: 10":                               {"", 1 << 30, now.Add(10 * time.Second)},
		"Ratelimit-Remaining: 5\r\nRatelimit-Reset: 10\r\nAge: 3":                              {},
		"Ratelimit-Remaining: 5\r\nRatelimit-Reset: 10\r\nDate: Tue, 14 Nov 2023 22:13:50 GMT": {"", 5, now.Add(40 * time.Second)},
		"Ratelimit-Remaining: 5\r\nRatelimit-Reset: 10\r\nDate: yesterday":                     {"", 5, now.Add(10 * time.Second)},
	} {
		h, err := textproto.NewReader(bufio.NewReader(strings.NewReader(headers + "\r\n\r\n"))).ReadMIMEHeader()
		require.NoError(t, err)
		got, server, ok := readStatement(http.Header(h), now)
		assert.Equal(t, !want.until.IsZero(), ok, headers)
		if ok {
			assert.Equal(t, want.name, got.name, headers)
			assert.Equal(t, want.remaining, got.remaining, headers)
			assert.True(t, want.until.Equal(got.until), "%s: %v", headers, got.until)
			assert.Equal(t, strings.Contains(headers, "GMT"), !server.Equal(now), headers)
		}
	}
}
