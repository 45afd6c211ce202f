package simulation

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Plan is a whole program with its data and its world. It is drawn before anything runs. It is
// plain data, so that it can be printed and shrunk.
type Plan struct {
	Seed       uint64
	World      WorldPlan
	Amount     Amount
	Clients    []ClientPlan
	Goroutines [][]Step
}

// ClientPlan describes a client that With derives from the world's client.
type ClientPlan struct {
	Agent    bool // another user agent, the same credential
	Member   bool // the credential of another user
	Nobody   bool // no credential
	Attempts int  // MaxAttempts of the retry policy; 0: the world's
	Limiter  bool
	Strict   bool
}

// Step is one call, or one or more walks of a list.
type Step struct {
	ID     string // "g3.s7", the value of X-Call
	Number int    // counts the steps of a plan from 0
	Call   string // the name of a row
	Client int    // index in Plan.Clients
	// Wait is the time that the goroutine sleeps first.
	Wait    time.Duration
	Variant uint64 // selects options of the call

	// Lists.
	PerPage, Ahead int
	OnePage        bool
	Collect        bool
	Twice          bool          // walk the list again
	Break          int           // leave after this many items; 0: read to the end
	Resume         bool          // continue from the cursor after a break or an error
	Slow           time.Duration // the caller's pause after each item, or each read of a stream

	// Files.
	Size     int64 // of an upload
	Source   string
	Read     int64 // bytes to read of a download; -1: all
	Save     bool  // save the download to a file
	MaxBytes int64

	// The caller.
	Deadline, Cancel time.Duration // 0: none
	Header           time.Duration // HeaderTimeout
	Retry            int           // MaxAttempts of this call; 0: the client's
	Smuggle          string        // a header of a credential, which the step tries to set
	Panic            string        // the function of the caller that panics
	PanicAt          int           // the number of the call that panics, from 1
}

// The functions of a caller that can panic.
const (
	inLoop     = "loop"
	inAttempt  = "attempt hook"
	inLimiter  = "limiter"
	inProgress = "progress"
	inOpen     = "open"
	inRead     = "read"
	inClose    = "close"
)

// The sources of an upload.
const (
	fromBytes  = "bytes"
	fromReader = "reader"
	fromDisk   = "disk"
	fromCaller = "caller"
)

// waitAtMost limits the calls that wait for a state.
const waitAtMost = 30 * time.Second

// source draws values.
type source struct{ *rand.Rand }

func newSource(seed uint64) source { return source{rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))} }

// chance returns true once in n draws on average.
func (r source) chance(n int) bool { return r.IntN(n) == 0 }

func oneOf[T any](r source, values ...T) T { return values[r.IntN(len(values))] }

// Draw draws the plan of a seed.
func Draw(seed uint64) *Plan {
	r := newSource(seed)
	p := &Plan{Seed: seed, Amount: drawAmount(r), Clients: drawClients(r)}
	count := oneOf(r, 1, 1, 1, 2, 2, 3, 4, 8, 16)
	rows, number := calls(), 0
	if r.chance(4) { // a program with only one or two methods
		rows = []*row{rows[r.IntN(len(rows))], rows[r.IntN(len(rows))]}
	}
	for g := range count {
		var steps []Step
		for s := range oneOf(r, 1, 2, 3, 4, 6) {
			steps = append(steps, drawStep(r, fmt.Sprintf("g%d.s%d", g, s), number, rows, len(p.Clients)))
			number++
		}
		p.Goroutines = append(p.Goroutines, steps)
	}
	p.World = drawWorld(r, p)
	return p
}

func drawAmount(r source) Amount {
	some := func() int { return oneOf(r, 1, 2, 3, 5, 8, 13, 21, 30) }
	return Amount{
		Issues: some(), MergeRequests: some(), Tags: some(), Events: some(), Users: some(), Files: oneOf(r, 1, 2, 5), Emails: some(),
		Jobs: some(), Tree: some(), Small: oneOf(r, 1, 2, 3, 7), Blob: drawSize(r),
	}
}

// drawSize draws a size in bytes: mostly small, at most 10 MiB.
func drawSize(r source) int64 {
	switch r.IntN(40) {
	case 0:
		return 1 + r.Int64N(10<<20-1)
	case 1, 2, 3:
		return r.Int64N(300 << 10)
	}
	return oneOf(r, 0, 1, 511, 512, 4<<10, 4<<10+1, r.Int64N(32<<10))
}

func drawClients(r source) []ClientPlan {
	list := []ClientPlan{{}}
	for range r.IntN(3) {
		c := ClientPlan{Agent: r.chance(3), Limiter: r.chance(3), Strict: r.chance(6)}
		switch r.IntN(8) {
		case 0, 1:
			c.Member = true
		case 2:
			c.Nobody = true
		case 3:
			c.Attempts = oneOf(r, 1, 2, 8)
		}
		list = append(list, c)
	}
	return list
}

func drawStep(r source, id string, number int, rows []*row, clients int) Step {
	row := rows[r.IntN(len(rows))]
	s := Step{ID: id, Number: number, Call: row.name, Variant: r.Uint64() >> 40, Read: -1}
	if r.chance(3) {
		s.Client = r.IntN(clients)
	}
	if r.chance(4) {
		s.Wait = drawTime(r)
	}
	switch {
	case row.whole:
		s.Collect, s.Twice = r.chance(4), r.chance(8)
	case row.items != nil:
		s.drawList(r)
	case row.open != nil:
		s.drawDownload(r)
	case row.upload:
		s.Size, s.Source = drawSize(r), oneOf(r, fromBytes, fromReader, fromDisk, fromCaller)
	}
	s.drawCaller(r, row)
	return s
}

func (s *Step) drawList(r source) {
	s.PerPage = oneOf(r, 0, 1, 2, 3, 5, 7, 10, 20, 100)
	s.Ahead = oneOf(r, 0, 0, 0, 1, 1, 2, 4, 8, 64)
	switch r.IntN(8) {
	case 0:
		s.OnePage = true
	case 1, 2:
		s.Collect = true
	case 3, 4:
		s.Break = 1 + r.IntN(12)
	}
	s.Twice, s.Resume = r.chance(8), r.chance(2)
	if r.chance(6) {
		s.Slow = drawTime(r) / 16
	}
}

func (s *Step) drawDownload(r source) {
	s.Save = r.chance(3)
	if r.chance(4) {
		s.Read = r.Int64N(40 << 10)
	}
	if r.chance(8) {
		s.Slow = drawTime(r) / 16
	}
	if r.chance(10) {
		s.MaxBytes = 1 + r.Int64N(40<<10)
	}
}

func (s *Step) drawCaller(r source, row *row) {
	if r.chance(5) {
		s.Deadline = 1 + drawTime(r)
	}
	if r.chance(8) {
		s.Cancel = 1 + drawTime(r)
	}
	if r.chance(12) {
		s.Header = 1 + drawTime(r)
	}
	if r.chance(20) {
		s.Retry = oneOf(r, 1, 2, 3, 6)
	}
	if r.chance(40) {
		s.Smuggle = oneOf(r, "PRIVATE-TOKEN", "private-token", "Private-token", "JOB-TOKEN", "job-Token", "AUTHORIZATION",
			"authorization", "cookie", "SUDO", "sudo", "proxy-authorization", "Deploy-Token")
	}
	if !r.chance(10) {
		return
	}
	places := []string{inAttempt, inLimiter}
	switch {
	case row.items != nil && !s.Collect:
		places = append(places, inLoop)
	case row.open != nil:
		places = append(places, inProgress)
	case row.upload:
		places = append(places, inProgress, inOpen, inRead, inClose)
		s.Source = fromCaller
	}
	s.Panic, s.PanicAt = oneOf(r, places...), 1+r.IntN(3)
}

// drawTime draws a time of one of several magnitudes, up to three minutes.
func drawTime(r source) time.Duration {
	limit := oneOf(r, time.Millisecond, 20*time.Millisecond, 300*time.Millisecond, 2*time.Second, 20*time.Second, 3*time.Minute)
	return time.Duration(r.Int64N(int64(limit)))
}

// steps returns the steps of all goroutines.
func (p *Plan) steps() (all []*Step) {
	for g := range p.Goroutines {
		for s := range p.Goroutines[g] {
			all = append(all, &p.Goroutines[g][s])
		}
	}
	return all
}
