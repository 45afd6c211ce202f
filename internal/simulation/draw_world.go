package simulation

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	forge "github.com/forge-sdk/forge-go"
)

// drawWorld draws the world of a plan and its faults.
func drawWorld(r source, p *Plan) WorldPlan {
	w := WorldPlan{
		Protocol: oneOf(r, HTTP1, HTTP1, H2C, TLS, TLS1),
		Auth:     oneOf(r, PersonalToken, PersonalToken, PersonalToken, OAuth),
		Latency:  oneOf(r, 0, 0, time.Millisecond, 40*time.Millisecond),
		Proxy:    r.chance(8),
		Later:    r.chance(3),
	}
	if w.Auth == OAuth {
		w.Lifetime = oneOf(r, 0, time.Minute, 5*time.Second)
		w.Rotating = r.chance(3)
	}
	if w.Protocol == H2C || w.Protocol == TLS {
		w.Streams = oneOf(r, 0, 0, 1, 3)
	}
	if r.chance(5) {
		w.Retry = forge.RetryPolicy{MaxAttempts: oneOf(r, 0, 1, 2, 6), MinWait: min(drawTime(r), 30*time.Second), MaxRetryAfter: drawTime(r)}
	}
	w.drawRefreshes(r, p)
	switch r.IntN(12) {
	case 0, 1: // nothing goes wrong
	case 2:
		w.Faults = []Fault{drawDeath(r)}
	case 3: // every first attempt fails
		w.Faults = []Fault{drawHiccup(r)}
	default:
		steps := p.steps()
		for range 1 + r.IntN(min(6, 2*len(steps))) {
			w.Faults = append(w.Faults, drawFault(r, steps[r.IntN(len(steps))]))
		}
		drawImpatience(r, w.Faults, steps)
		w.drawHeldCalls(r, p)
		w.drawElsewhere(r, steps)
	}
	return w
}

// drawImpatience lets some programs cancel a call while the server makes all calls wait. A deadline
// is different: a call whose deadline is before the end of the wait fails immediately.
func drawImpatience(r source, faults []Fault, steps []*Step) {
	for _, f := range faults {
		if f.Status == http.StatusTooManyRequests && f.Wait > 0 && r.chance(2) {
			s := steps[r.IntN(len(steps))]
			s.Deadline, s.Cancel = 0, 1+time.Duration(r.Int64N(int64(f.Wait)))
		}
	}
}

// drawHeldCalls lets the server make all calls of a client wait, once or twice, and begins a call
// during the last wait. Some of these calls are canceled.
func (w *WorldPlan) drawHeldCalls(r source, p *Plan) {
	if len(p.Goroutines) < 2 || !r.chance(4) {
		return
	}
	first, held := &p.Goroutines[0][0], &p.Goroutines[1][0]
	first.Wait, first.Deadline, first.Cancel, first.Retry = 0, 0, 0, 0
	held.Wait, held.Client, held.Deadline, held.Cancel = time.Second, first.Client, 0, 0
	for attempt := range 1 + r.IntN(2) {
		f := Fault{Call: first.ID, At: AtBefore, Kind: Respond, Attempt: attempt + 1, Status: http.StatusTooManyRequests, RetryAfter: Seconds}
		f.Wait = oneOf(r, 3*time.Second, 12*time.Second, 30*time.Second)
		if attempt > 0 {
			held.Wait += w.Faults[len(w.Faults)-1].Wait + 3*time.Second
		}
		w.Faults = append(w.Faults, f)
		if r.chance(2) {
			held.Cancel = 1 + time.Duration(r.Int64N(int64(f.Wait)))
		}
	}
}

// drawRefreshes lets some programs last longer than several tokens.
func (w *WorldPlan) drawRefreshes(r source, p *Plan) {
	if w.Lifetime == 0 || !r.chance(2) {
		return
	}
	w.Lifetime = 5 * time.Second
	for _, steps := range p.Goroutines {
		for i := range steps {
			steps[i].Wait = w.Lifetime + time.Second
		}
	}
}

// drawElsewhere aims faults at other servers: the token endpoint, the proxy, and the origin that
// downloads are redirected to.
func (w *WorldPlan) drawElsewhere(r source, steps []*Step) {
	var places []Fault
	if w.Auth == OAuth {
		places = append(places, Fault{Origin: "token"})
	}
	if w.Proxy && w.Protocol != H2C {
		places = append(places, Fault{Origin: "proxy"})
	}
	if i := slices.IndexFunc(steps, func(s *Step) bool { return rowsByName()[s.Call].open != nil }); i >= 0 {
		places = append(places, Fault{Origin: "other", Call: steps[i].ID})
	}
	if len(places) == 0 || !r.chance(2) {
		return
	}
	f := places[r.IntN(len(places))]
	if f.Origin == "other" {
		w.Faults = append(w.Faults, Fault{Call: f.Call, At: AtBefore, Kind: Respond, Attempt: 1, Status: 302, Target: Other})
	}
	f.Kind = oneOf(r, Refuse, Reset, Cut, Stall, Slow, Respond, Respond)
	points := acts()[f.Kind]
	f.At, f.Attempt, f.Byte = points[r.IntN(len(points))], oneOf(r, 0, 1, 1, 2), r.IntN(300)
	f.drawKind(r)
	w.Faults = append(w.Faults, f)
}

// drawDeath draws a fault of every request, so that no call succeeds.
func drawDeath(r source) Fault {
	return oneOf(r,
		Fault{Call: "*", At: AtBefore, Kind: Respond, Status: 503},
		Fault{Call: "*", At: AtBefore, Kind: Respond, Status: 500},
		Fault{Call: "*", At: AtBefore, Kind: Reset},
		Fault{Call: "*", At: AtAfter, Kind: Reset},
		Fault{Call: "*", At: AtBefore, Kind: Stall},
		Fault{Call: "*", At: AtDial, Kind: Refuse},
		Fault{Call: "*", At: AtHeader, Kind: Garble, Byte: 3, Length: 4},
	)
}

// drawHiccup draws a fault of every first attempt, so that a retry succeeds.
func drawHiccup(r source) Fault {
	return oneOf(r,
		Fault{Call: "*", Attempt: 1, At: AtBefore, Kind: Respond, Status: 503},
		Fault{Call: "*", Attempt: 1, At: AtBefore, Kind: Respond, Status: 429},
		Fault{Call: "*", Attempt: 1, At: AtBefore, Kind: Reset},
		Fault{Call: "*", Attempt: 1, At: AtData, Byte: 5, Kind: Cut},
		Fault{Call: "*", Attempt: 1, At: AtBefore, Kind: Respond, Status: 503, RetryAfter: Seconds, Wait: 3 * time.Second},
	)
}

// acts returns the points at which each kind of fault can act.
func acts() map[FaultKind][]Point {
	everywhere := []Point{AtHead, AtBody, AtBefore, AtAfter, AtHeader, AtData}
	server := []Point{AtBefore, AtAfter}
	sent := []Point{AtHeader, AtData}
	return map[FaultKind][]Point{
		Refuse: {AtDial}, Slow: {AtDial, AtHeader, AtData}, Reset: everywhere, Cut: everywhere, Stall: everywhere,
		Garble: sent, Repeat: sent, Interim: {AtBefore}, Respond: {AtBody, AtBefore, AtAfter}, GoAway: server,
		Abort: {AtBody, AtBefore, AtAfter, AtData}, Restart: server, JumpDate: server, Expire: {AtBefore},
		Insert: server, Delete: server, Relink: {AtAfter}, Endless: {AtAfter},
	}
}

// drawFault draws one fault of a step.
func drawFault(r source, s *Step) Fault {
	kind := FaultKind(r.IntN(int(Endless) + 1))
	if r.chance(3) {
		kind = oneOf(r, Respond, Reset, Cut, Stall)
	}
	if row := rowsByName()[s.Call]; row.items != nil && !row.whole && r.chance(4) {
		kind = oneOf(r, Relink, Relink, Relink, Insert, Delete)
		s.PerPage = oneOf(r, s.PerPage, 1, 2, 3)
		s.Ahead = oneOf(r, s.Ahead, 1, 2, 4)
		if kind == Relink && s.Ahead > 0 && r.chance(3) {
			return drawUncounted(r, s)
		}
	}
	if open := rowsByName()[s.Call].open != nil; open && r.chance(3) || r.chance(24) {
		return drawRedirect(r, s)
	}
	points := acts()[kind]
	f := Fault{Call: s.ID, Kind: kind, At: points[r.IntN(len(points))], Attempt: oneOf(r, 1, 1, 1, 2, 3, 0)}
	if rowsByName()[s.Call].items != nil || r.chance(4) {
		f.Page = oneOf(r, "", "", "", "#1", "#2", "#3", "#4", "#5")
	}
	switch f.At {
	case AtHead, AtHeader:
		f.Byte = r.IntN(400)
	case AtBody, AtData:
		f.Byte = oneOf(r, 0, 1, r.IntN(30), r.IntN(600), r.IntN(20<<10))
	}
	if kind == Insert && f.Page == "" {
		f.Page = "#1" // a list that grows with each page never ends
	}
	f.Length = oneOf(r, 0, 1, 2, 1+r.IntN(20))
	f.drawKind(r)
	return f
}

// drawUncounted draws a prefetched list whose links count pages at first, and later do not.
func drawUncounted(r source, s *Step) Fault {
	s.PerPage, s.OnePage, s.Break = oneOf(r, 1, 2), false, 0
	return Fault{Call: s.ID, At: AtAfter, Kind: Relink, Target: Extended, Page: oneOf(r, "#2", "#3")}
}

// drawRedirect draws a redirect of a step. Only downloads may follow a redirect to another origin.
func drawRedirect(r source, s *Step) Fault {
	return Fault{Call: s.ID, At: AtBefore, Kind: Respond, Attempt: oneOf(r, 0, 1),
		Status: oneOf(r, 301, 302, 303, 307, 308), Target: oneOf(r, Other, Other, Back, Moved, Downgrade, Itself)}
}

func (f *Fault) drawKind(r source) {
	switch f.Kind {
	case Slow, Restart:
		f.Wait = drawTime(r)
	case Stall:
		f.Wait = oneOf(r, 0, 0, drawTime(r))
	case JumpDate:
		f.Wait = time.Duration(oneOf(r, 1, -1, 24, -24)) * (time.Hour + drawTime(r))
	case Interim:
		f.Status = oneOf(r, 100, 102, 103, 110)
	case Relink:
		f.Target = oneOf(r, Nowhere, Other, Itself, Start, Userinfo, Unparsable, Unparsable, Unchanged, Extended, Extended)
	case Respond:
		f.drawResponse(r)
	}
}

// drawResponse draws a status. AtAfter it draws no status that denies the effect.
func (f *Fault) drawResponse(r source) {
	f.Status = oneOf(r, 500, 502, 503, 503, 504, 501, 520, 527, 530, 408, 226, 206, 205, 203, 303)
	if f.At != AtAfter && r.chance(2) {
		f.Status = oneOf(r, 429, 429, 429, 429, 429, 429, 400, 401, 403, 404, 409, 417, 418, 422, 425, 301, 302, 303, 307, 308, 300, 304)
	}
	switch {
	case f.Status >= 300 && f.Status < 400:
		f.Target = oneOf(r, Nowhere, Moved, Moved, Other, Itself, Downgrade, Userinfo, Unparsable, Back)
	case f.Status == 429, f.Status == 503, r.chance(6):
		f.RetryAfter = oneOf(r, Unsaid, Seconds, Seconds, Date, ResetUnix, ResetDelta, Absurd, Garbage, Negative)
		f.Wait = oneOf(r, time.Second, 3*time.Second, 30*time.Second, 59*time.Second, 61*time.Second, time.Hour)
	}
}

// String returns the world's line in a story.
func (w WorldPlan) String() string {
	text := fmt.Sprintf("%v, credential %v", w.Protocol, w.Auth)
	if w.Lifetime > 0 {
		text += fmt.Sprintf(" of %v", w.Lifetime)
	}
	if w.Rotating {
		text += ", each refresh token for one refresh"
	}
	if w.Streams > 0 {
		text += fmt.Sprintf(", %d streams a connection", w.Streams)
	}
	if w.Later {
		text += ", a server of a later release"
	}
	if w.Proxy {
		text += ", through a proxy"
	}
	if w.Latency > 0 {
		text += fmt.Sprintf(", latency %v", w.Latency)
	}
	if w.Retry != (forge.RetryPolicy{}) {
		text += fmt.Sprintf(", retry %+v", w.Retry)
	}
	return text
}
