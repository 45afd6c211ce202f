package throttle

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// The Date of a response is cut to the second, so that the latest one is the most exact, until the
// server's clock goes back.
func TestWindowClock(t *testing.T) {
	w, now := new(window), time.Now()
	for _, seconds := range []struct{ server, used float64 }{{10, 10}, {10.5, 10.5}, {9.6, 10.5}, {8.5, 10.5}, {8.4, 8.4}, {-30, -30}} {
		ahead := func(seconds float64) time.Time { return now.Add(time.Duration(seconds * float64(time.Second))) }
		assert.Equal(t, ahead(60-seconds.used), w.localTime(ahead(60), ahead(seconds.server), now), "%v", seconds)
	}
}

// Two responses of one window are two bounds of what is left. A response with another end is of
// another window, whose requests others have not used.
func TestWindowOfAResponse(t *testing.T) {
	w, now := new(window), time.Now()
	end := now.Add(time.Minute)
	for _, said := range []struct {
		remaining           int
		until               time.Time
		left, others, limit int
	}{{10, end, 10, 0, 11}, {8, end.Add(time.Second), 8, 1, 11}, {30, end.Add(time.Hour), 30, 0, 31}} {
		ticket := w.send(now)
		w.done++
		w.arrive(ticket, now)
		w.observe(ticket, statement{remaining: said.remaining, until: said.until}, now)
		assert.Equal(t, []int{said.left, said.others, said.limit}, []int{w.left(), w.others, w.limit}, "%v", said)
	}
}

// The record of throttles does not grow.
func TestPacerMemory(t *testing.T) {
	var p Pacer
	for i := range 2 * maxRemembered {
		route := Route{Template: fmt.Sprint(i)}
		p.windowOf(route)
		p.learn(&Ticket{route: route}, fmt.Sprint(i))
	}
	assert.LessOrEqual(t, len(p.routes), maxRemembered+1)
	assert.LessOrEqual(t, len(p.throttles), maxRemembered+1)
}
