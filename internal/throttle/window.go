package throttle

import (
	"net/http"
	"slices"
	"strconv"
	"time"
)

const (
	// freeShare is the part of a window that is sent without a delay, however many callers wait.
	freeShare = 0.5
	// sameWindow is how far the stated ends of one window may differ: they have whole seconds.
	sameWindow = 1500 * time.Millisecond
	// longestTrial is how long callers wait for the first response of a new window.
	longestTrial = time.Second
	// closeBounds is the difference of two bounds that are exact enough to use the lower one.
	closeBounds = 4
	// contention is how many requests of this client count as much as one request of others that was
	// noticed: a few may be redirects, or responses that have overtaken one another.
	contention = 8
)

// window is what is known of one throttle of the server, in its current window.
type window struct {
	named bool      // a response has named the throttle
	until time.Time // the end of the window; zero: no response of the window was seen
	// Bounds of what the server would still accept, those in flight subtracted.
	fewest, most int
	limit        int           // the most requests that any response has shown, of this window or the last
	peak         int           // of this window
	ahead        time.Duration // how far the server's clock is ahead
	dated        bool          // ahead is known

	trial time.Time // while callers wait for the first response of a window: the end of that wait
	busy  bool      // callers waited for this window, since the last one was used up
	last  time.Time // when the last request was sent

	// The requests of this client, ever. fresh are those that may not have reached the server yet.
	sent, done int
	fresh      []*Ticket

	own, others         int // requests in this window, of this client and of others
	lastOwn, lastOthers int // in the window before
	queue               []*waiter
}

// send records a request that is about to be sent.
func (w *window) send(now time.Time) *Ticket {
	w.sent++
	t := &Ticket{window: w, sent: now, done: w.done}
	w.own++
	w.give(-1)
	w.last = now
	w.fresh = append(w.fresh, t)
	return t
}

// arrive records that a response has arrived. Its request is assumed to have reached the server
// after half of the time: so have those that were sent before that, and what is sent from now on
// comes after them.
func (w *window) arrive(t *Ticket, now time.Time) {
	reached, n := now.Add(-now.Sub(t.sent)/2), 0
	for ; n < len(w.fresh) && !w.fresh[n].sent.After(reached); n++ {
		w.fresh[n].after = w.sent
	}
	w.fresh = slices.Delete(w.fresh, 0, n)
}

// observe reads what a response says of the window. The other requests in flight may have been
// counted before the request or not, so that there are two bounds for what is left: all that were
// in flight together with it were counted later, or only those that were sent after a response.
func (w *window) observe(t *Ticket, s statement, now time.Time) {
	if !s.until.After(now) {
		return
	}
	fewest, most := s.remaining-(w.sent-t.done-1), s.remaining-(w.sent-t.after)
	w.peak = max(w.peak, s.remaining+1)
	w.limit = max(w.limit, w.peak)
	w.roll(now)
	if !w.until.IsZero() && s.until.Sub(w.until).Abs() <= sameWindow {
		w.fewest, w.most = max(w.fewest, fewest), min(w.most, most)
	} else {
		if !w.until.IsZero() { // the server has changed its mind
			w.own, w.others = 0, 0
		}
		w.until, w.fewest, w.most = s.until, fewest, most
	}
	if w.most < w.fewest { // another client has used the difference
		w.others += w.fewest - w.most
		w.fewest = w.most
	}
	if s.until.Before(w.until) {
		w.until = s.until
	}
	w.trial = time.Time{}
}

// roll ends a window whose time has ended. If callers wait, the next one begins with its free
// share: other clients begin with theirs at the same time.
func (w *window) roll(now time.Time) {
	if w.until.IsZero() || now.Before(w.until) {
		return
	}
	w.lastOwn, w.lastOthers, w.own, w.others = w.own, w.others, 0, 0
	w.busy = len(w.queue) > 0 || w.most <= 0 && now.Sub(w.until) < sameWindow
	w.limit, w.peak, w.until = w.peak, 0, time.Time{}
	if w.busy {
		w.most, w.trial = max(1, int(float64(w.limit)*freeShare*w.share())), now.Add(longestTrial)
		w.fewest = w.most
	}
}

// left returns what may be sent. If callers waited for the window, and once the bounds are close,
// it is the lower bound. Before that no caller is delayed unless the server would certainly refuse.
func (w *window) left() int {
	if w.busy || w.most-w.fewest <= closeBounds {
		return w.fewest
	}
	return w.most
}

// give adds n to what is left.
func (w *window) give(n int) {
	w.fewest += n
	w.most += n
}

// share is the part of the requests that this client may use: what it has used while others did. In
// the first window, which shows only some of what the others do, it is half at most.
func (w *window) share() float64 {
	own, others := float64(w.own+w.lastOwn), float64(w.others+w.lastOthers)
	if others*contention <= own {
		return 1
	}
	share := max(0.1, own/(own+others))
	if w.lastOwn == 0 {
		share = min(share, 0.5)
	}
	return share
}

// next returns when the next of a number of waiting requests may be sent; not after now means now.
func (w *window) next(waiting int, now time.Time) time.Time {
	w.roll(now)
	share := w.share()
	flying := w.sent - w.done
	if w.busy || share < 1 { // the callers of the requests in flight will come back
		waiting += flying
	}
	// The others have requests in flight, too: as many as their share.
	left := float64(w.left()) - float64(flying)*(1-share)/share
	budget := left * share
	switch {
	case !w.trial.IsZero() && w.left() > 0, w.until.IsZero() && w.trial.IsZero():
		return now
	case w.until.IsZero():
		return w.trial
	case budget < 1:
		return w.until
	case float64(waiting) <= budget, left > float64(w.limit)*(1-freeShare):
		return now
	default:
		return w.last.Add(time.Duration(float64(w.until.Sub(w.last)) / (budget + 1)))
	}
}

// estimate returns when the last of a number of waiting requests will be sent, if nothing else
// happens. It is the end of the window if that is not known.
func (w *window) estimate(waiting int, now time.Time) time.Time {
	next := w.next(waiting, now)
	if next.After(w.until) {
		return next
	}
	if waiting > w.left() {
		return w.until
	}
	at := next.Add(time.Duration(waiting-1) * next.Sub(w.last))
	if at.After(w.until) {
		return w.until
	}
	return at
}

// statement is what a response says of a throttle.
type statement struct {
	name      string
	remaining int
	until     time.Time // by the server's clock
}

// readStatement reads the headers of a response, and the server's time; ok is false if they do not
// have both values, or are those of a cache. RateLimit-Limit is not read: it is converted to a
// minute, and Remaining is of the real period.
func readStatement(h http.Header, now time.Time) (s statement, server time.Time, ok bool) {
	text := h.Get("Ratelimit-Remaining")
	if text == "" { // the error of ParseInt would be allocated
		return s, now, false
	}
	remaining, err := strconv.ParseInt(text, 10, 64)
	if err != nil || h.Get("Age") != "" {
		return s, now, false
	}
	if server, err = http.ParseTime(h.Get("Date")); err != nil {
		server = now
	}
	s.name, s.remaining = h.Get("Ratelimit-Name"), int(min(max(remaining, 0), 1<<30))
	s.until, ok = RateLimitReset(h, server)
	return s, server, ok
}

// localTime converts a time of the server's clock to this machine's. A Date has whole seconds, so
// of several responses the one whose Date is the latest for its time is the most exact.
func (w *window) localTime(until, server, now time.Time) time.Time {
	ahead := server.Sub(now)
	if !w.dated || ahead > w.ahead || ahead < w.ahead-clockTolerance {
		w.ahead, w.dated = ahead, true
	}
	return until.Add(-w.ahead)
}
