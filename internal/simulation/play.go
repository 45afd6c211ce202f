package simulation

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	forge "github.com/forge-sdk/forge-go"
)

// Outcome is the result of a plan.
type Outcome struct {
	plan       *Plan
	seen       []*observed
	wire       []Exchange
	stats      forge.Stats
	began      time.Time
	log        string
	token      string // of the default user
	member     string // of another user
	secrets    []string
	files      []string          // in the directory of the program after the run
	saved      map[string][]byte // by step
	stored     map[string][]sum  // files uploaded to acme/work, by name
	spent      map[string]int64  // seconds booked on the issue of a step, by step
	addresses  map[string]int    // number of stored e-mail addresses, by address
	mu         sync.Mutex
	broken     []Violation // panics of the program itself
	Violations []Violation
}

// logged collects the log of the clients.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// limiter is a caller-supplied Limiter. It never waits.
type limiter struct{ w *World }

func (l *limiter) Wait(ctx context.Context) error {
	observing(ctx).fire(l.w, inLimiter)
	return ctx.Err()
}

// Play runs a plan and checks its invariants.
func Play(t *testing.T, plan *Plan) *Outcome {
	t.Helper()
	out, rows := &Outcome{plan: plan}, rowsByName()
	_ = classes()
	dir, err := os.MkdirTemp("", "simulation") //nolint:usetesting // a search plays thousands of plans in one test
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	out.Violations = Run(t, plan.World, func(w *World) {
		p := &player{plan: plan, w: w, dir: dir, log: &logged{}, rows: rows}
		p.play(out)
	})
	out.Violations = append(out.Violations, out.broken...)
	if slices.ContainsFunc(out.seen, func(o *observed) bool { return o.fired != nil }) {
		// If the caller's code panics, the garbage collector frees the buffer of the call.
		out.Violations = slices.DeleteFunc(out.Violations, func(v Violation) bool {
			return v.Name == "buffer" && strings.Contains(v.Text, "still in use")
		})
	}
	if out.seen != nil {
		out.Violations = append(out.Violations, check(out)...)
	}
	return out
}

var rowsByName = sync.OnceValue(func() map[string]*row {
	rows := map[string]*row{}
	for _, r := range calls() {
		rows[r.name] = r
	}
	return rows
})

// play runs the goroutines, and collects the data for the invariants.
func (p *player) play(out *Outcome) {
	p.f = furnish(p.w.Server, p.plan.Amount)
	p.find()
	p.w.Data = p.f.data()
	var goroutines [][]*observed
	for g := range p.plan.Goroutines {
		var steps []*observed
		for s := range p.plan.Goroutines[g] {
			step := &p.plan.Goroutines[g][s]
			steps = append(steps, &observed{step: step, row: p.rows[step.Call], places: map[string]int{}})
		}
		goroutines = append(goroutines, steps)
		p.seen = append(p.seen, steps...)
	}
	if err := p.prepare(); err != nil {
		panic(err)
	}
	p.derive()
	var all sync.WaitGroup
	for _, steps := range goroutines {
		all.Go(func() {
			defer out.keep()
			for _, o := range steps {
				p.run(o)
			}
		})
	}
	all.Wait()
	for _, o := range p.seen {
		if o.row.more {
			time.Sleep(31 * time.Second) // a request for a token may continue so long after its caller has returned
			break
		}
	}
	p.w.Settle() // waits for background work that is documented
	p.gather(out)
}

// derive creates the clients of the plan, with hooks.
func (p *player) derive() {
	logger := slog.New(slog.NewTextHandler(p.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	for _, c := range p.plan.Clients {
		opts := []forge.Option{forge.WithLogger(logger), forge.WithOnAttempt(p.noted)}
		if c.Limiter {
			opts = append(opts, forge.WithLimiter(&limiter{p.w}))
		}
		if c.Agent {
			opts = append(opts, forge.WithUserAgent("simulation/1"))
		}
		if c.Strict {
			opts = append(opts, forge.WithStrictDecoding())
		}
		switch {
		case c.Member:
			opts = append(opts, forge.WithToken(p.f.member.Token))
		case c.Nobody:
			opts = append(opts, forge.WithoutCredential())
		}
		if c.Attempts > 0 {
			policy := p.plan.World.Retry
			policy.MaxAttempts = c.Attempts
			opts = append(opts, forge.WithRetry(policy))
		}
		client, err := p.w.Client.With(opts...)
		if err != nil {
			panic(fmt.Sprintf("a client is refused: %v", err))
		}
		p.clients = append(p.clients, client)
	}
}

func (p *player) noted(ctx context.Context, a forge.Attempt) {
	o := observing(ctx)
	if o == nil {
		return
	}
	o.mu.Lock()
	o.attempts = append(o.attempts, attempt{a, p.w.Now()})
	o.mu.Unlock()
	o.fire(p.w, inAttempt)
}

// credential returns the credential header of a client, for requests that bypass the client.
func (p *player) credential(client int) (name, token string) {
	c := p.plan.Clients[client]
	switch {
	case c.Member:
		return "PRIVATE-TOKEN", p.f.member.Token
	case c.Nobody, p.plan.World.Auth == None:
		return "", ""
	case p.plan.World.Auth == JobToken:
		return "JOB-TOKEN", p.w.Server.JobToken
	}
	return "PRIVATE-TOKEN", p.w.Server.Token
}

// gather reads the results of the client and of the servers.
func (p *player) gather(out *Outcome) {
	out.seen, out.wire, out.stats, out.began = p.seen, p.w.Wire(), p.w.Client.Stats(), p.w.began
	p.log.mu.Lock()
	out.log = p.log.text.String()
	p.log.mu.Unlock()
	for _, c := range p.clients {
		out.log += fmt.Sprintf("%v %+v %#v\n", c, c, c)
	}
	out.token, out.member = p.w.Server.Token, p.f.member.Token
	out.secrets = append(p.w.Secrets(), p.f.member.Token, smuggled)
	out.saved = map[string][]byte{}
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		panic(err)
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".upload" {
			out.files = append(out.files, e.Name())
		}
	}
	for _, o := range p.seen {
		if o.step.Save {
			out.saved[o.step.ID] = p.saved(o.step)
		}
	}
	p.gatherStore(out)
}

// keep records a panic of the program itself as a violation.
func (o *Outcome) keep() {
	if value := recover(); value != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.broken = append(o.broken, Violation{"Program", fmt.Sprintf("%v\n%s", value, debug.Stack())})
	}
}
