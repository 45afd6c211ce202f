package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// limiter is a [forge.Limiter] that all processes share. It distributes places in time, one for
// each request: a row of the database has the next free place, and a statement takes it. The caller
// then waits for its place. No process asks twice, none can take more than its turns, and a process
// that is killed leaves nothing to repair. Only the database's clock counts.
type limiter struct {
	db    session
	query string
}

// newLimiter returns a limiter for at most n requests in a period. A tenth of them remains as a
// distance from the limit: requests that were apart when they were sent may arrive together. A
// twentieth may be sent without a distance after a pause.
func newLimiter(db store, n int, period time.Duration) *limiter {
	every := period.Seconds() / (0.9 * float64(n)) // seconds from place to place
	burst := every * float64(n) / 20
	place := fmt.Sprintf("(CASE WHEN next > %s - %g THEN next ELSE %[1]s - %[2]g END)", db.now(), burst)
	wait := fmt.Sprintf("(CASE WHEN next > %s THEN next - %[1]s ELSE 0 END)", db.now())
	return &limiter{db, fmt.Sprintf(`UPDATE export_limit SET next = %s + %g, taken = taken + 1, waited = waited + %s
		WHERE id = 1 RETURNING next - %[2]g - %[4]s`, place, every, wait, db.now())}
}

// Wait takes the next place, and returns at its time. After an error the place is lost.
func (l *limiter) Wait(ctx context.Context) error {
	seconds, err := one[float64](ctx, l.db, l.query)
	if err != nil {
		return fmt.Errorf("the rate limit of all processes, in the database: %w", err)
	}
	if seconds <= 0 {
		return nil
	}
	return sleep(ctx, time.Duration(seconds*float64(time.Second)))
}

// parseRate parses the value of -rate: 1800/1m.
func parseRate(value string) (n int, period time.Duration, err error) {
	count, text, found := strings.Cut(value, "/")
	n, err = strconv.Atoi(count)
	if err == nil && found {
		period, err = time.ParseDuration(text)
	}
	if err != nil || !found || n < 1 || period <= 0 {
		return 0, 0, errors.New("-rate is a number of requests and a period, such as 1800/1m")
	}
	return n, period, nil
}
