package simulation

import (
	"fmt"
	"time"

	forge "github.com/forge-sdk/forge-go"
)

// drawWorld draws the world of a plan, and what goes wrong in it.
func drawWorld(r source, p *Plan) WorldPlan {
	w := WorldPlan{
		Protocol: oneOf(r, HTTP1, HTTP1, H2C, TLS, TLS1),
		Auth:     oneOf(r, PersonalToken, PersonalToken, PersonalToken, OAuth),
		Latency:  oneOf(r, 0, 0, time.Millisecond, 40*time.Millisecond),
		Proxy:    r.chance(8),
	}
	if w.Auth == OAuth {
		w.Lifetime = oneOf(r, 0, time.Minute, 5*time.Second)
	}
	if r.chance(5) {
		w.Retry = forge.RetryPolicy{MaxAttempts: oneOf(r, 0, 1, 2, 6), MinWait: drawTime(r), MaxRetryAfter: drawTime(r)}
	}
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
	}
	return w
}

// drawDeath is a fault of everything.
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

// drawHiccup is a fault of everything that a retry mends.
func drawHiccup(r source) Fault {
	return oneOf(r,
		Fault{Call: "*", Attempt: 1, At: AtBefore, Kind: Respond, Status: 503},
		Fault{Call: "*", Attempt: 1, At: AtBefore, Kind: Respond, Status: 429},
		Fault{Call: "*", Attempt: 1, At: AtBefore, Kind: Reset},
		Fault{Call: "*", Attempt: 1, At: AtData, Byte: 5, Kind: Cut},
		Fault{Call: "*", Attempt: 1, At: AtBefore, Kind: Respond, Status: 503, RetryAfter: Seconds, Wait: 3 * time.Second},
	)
}

// acts lists where each kind of fault can act.
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

// drawFault aims one fault at a step.
func drawFault(r source, s *Step) Fault {
	kind := FaultKind(r.IntN(int(Endless) + 1))
	if r.chance(3) {
		kind = oneOf(r, Respond, Reset, Cut, Stall)
	}
	if open := rowsByName()[s.Call].open != nil; open && r.chance(3) || r.chance(24) {
		return drawRedirect(r, s)
	}
	points := acts()[kind]
	f := Fault{Call: s.ID, Kind: kind, At: points[r.IntN(len(points))], Attempt: oneOf(r, 1, 1, 1, 2, 3, 0)}
	if s.PerPage > 0 || r.chance(4) {
		f.Page = oneOf(r, "", "", "", "#1", "#2", "#3", "#4", "#5")
	}
	switch f.At {
	case AtHead, AtHeader:
		f.Byte = r.IntN(400)
	case AtBody, AtData:
		f.Byte = oneOf(r, 0, 1, r.IntN(30), r.IntN(600), r.IntN(20<<10))
	}
	if kind == Insert && f.Page == "" {
		f.Page = "#1" // a list that grows with each page does not end
	}
	f.Length = oneOf(r, 0, 1, 2, 1+r.IntN(20))
	f.drawKind(r)
	return f
}

// drawRedirect leads a step to another place; few but downloads may leave the origin.
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
		f.Target = oneOf(r, Nowhere, Other, Itself, Start, Userinfo, Unparsable)
	case Respond:
		f.drawResponse(r)
	}
}

// drawResponse draws a status. After the effect none that says that there was none.
func (f *Fault) drawResponse(r source) {
	f.Status = oneOf(r, 500, 502, 503, 503, 504, 501, 520, 527, 530, 408, 226, 206, 205, 203)
	if f.At != AtAfter && r.chance(2) {
		f.Status = oneOf(r, 429, 429, 429, 400, 401, 403, 404, 409, 417, 418, 422, 425, 301, 302, 303, 307, 308, 300, 304)
	}
	switch {
	case f.Status >= 300 && f.Status < 400:
		f.Target = oneOf(r, Nowhere, Moved, Moved, Other, Itself, Downgrade, Userinfo, Unparsable, Back)
	case f.Status == 429, f.Status == 503, r.chance(6):
		f.RetryAfter = oneOf(r, Unsaid, Seconds, Seconds, Date, ResetUnix, ResetDelta, Absurd, Garbage, Negative)
		f.Wait = oneOf(r, time.Second, 3*time.Second, 30*time.Second, 59*time.Second, 61*time.Second, time.Hour)
	}
}

// String tells a story's line of the world.
func (w WorldPlan) String() string {
	text := fmt.Sprintf("%v, credential %v", w.Protocol, w.Auth)
	if w.Lifetime > 0 {
		text += fmt.Sprintf(" of %v", w.Lifetime)
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
