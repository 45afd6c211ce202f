package simulation

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	forge "github.com/forge-sdk/forge-go"
)

// observed is the record of one step.
type observed struct {
	step *Step
	row  *row

	begun, ended time.Duration // of the call, in virtual time
	done         bool          // the call has returned
	limit        time.Duration // when the call's context ends; 0: never
	slow         time.Duration // time that the caller itself has slept since begun

	before, after truth

	err       error
	value     any
	response  forge.Response
	walks     []*walk
	stream    *read
	sent      sum // the content of an upload
	recovered any // the panic that reached the caller
	said      []string

	mu       sync.Mutex
	attempts []attempt
	places   map[string]int
	fired    any // the panic that the caller's code raised
	firedAt  time.Duration
	opened   int
	closed   int
}

// attempt is a report to the hook.
type attempt struct {
	forge.Attempt
	at time.Duration
}

// blast is the value with which the caller's code panics.
type blast struct{ step, place string }

type observedKey struct{}

func observing(ctx context.Context) *observed {
	o, _ := ctx.Value(observedKey{}).(*observed)
	return o
}

// fire panics at the place and call that the plan names.
func (o *observed) fire(w *World, place string) {
	if o == nil || o.step.Panic != place {
		return
	}
	o.mu.Lock()
	o.places[place]++
	now := o.places[place] == o.step.PanicAt && o.fired == nil
	if now {
		o.fired, o.firedAt = blast{o.step.ID, place}, w.Now()
	}
	o.mu.Unlock()
	if now {
		panic(blast{o.step.ID, place})
	}
}

// player runs the steps of a plan in a world.
type player struct {
	plan    *Plan
	w       *World
	f       *fixtures
	rows    map[string]*row
	clients []*forge.Client
	log     *logged
	dir     string
	seen    []*observed
}

// run executes one step.
func (p *player) run(o *observed) {
	s := o.step
	time.Sleep(s.Wait)
	ctx, mark := p.w.Call(context.WithValue(context.Background(), observedKey{}, o), s.ID)
	c := &calling{ctx: ctx, client: p.clients[s.Client], f: p.f, s: s, opts: p.options(o, mark)}
	if o.row.upload {
		c.file = p.file(o)
	}
	planned := p.address(o, c)
	o.before = p.ask(o, planned)
	if s.Deadline > 0 {
		limited, cancel := context.WithTimeout(ctx, s.Deadline)
		defer cancel()
		c.ctx, o.limit = limited, p.w.Now()+s.Deadline
	}
	if s.Cancel > 0 {
		cancelable, cancel := context.WithCancel(c.ctx)
		c.ctx = cancelable
		timer := time.AfterFunc(s.Cancel, cancel) // else the context never ends, as Background does not
		defer timer.Stop()
		if at := p.w.Now() + s.Cancel; o.limit == 0 || at < o.limit {
			o.limit = at
		}
	}
	o.begun = p.w.Now()
	p.guarded(o, c)
	o.ended, o.done = p.w.Now(), true
	o.after = p.ask(o, planned)
	o.said = append(o.said, spoken(o)...)
}

// guarded makes the call, and records a panic that reaches the caller.
func (p *player) guarded(o *observed, c *calling) {
	returned := false
	defer func() {
		if !returned {
			o.recovered = recover()
		}
	}()
	switch {
	case o.row.items != nil:
		p.walkAll(o, c)
	case o.row.open != nil:
		p.download(o, c)
	default:
		o.value, o.err = o.row.value(c)
	}
	returned = true
}

// options returns the request options of a step.
func (p *player) options(o *observed, mark forge.RequestOption) []forge.RequestOption {
	s := o.step
	opts := []forge.RequestOption{mark, forge.Into(&o.response)}
	if s.PerPage > 0 {
		opts = append(opts, forge.PerPage(s.PerPage))
	}
	if s.Ahead > 0 {
		opts = append(opts, forge.Ahead(s.Ahead))
	}
	if s.OnePage {
		opts = append(opts, forge.OnePage())
	}
	if s.Smuggle != "" {
		opts = append(opts, forge.Header(s.Smuggle, smuggled))
	}
	if s.MaxBytes > 0 {
		opts = append(opts, forge.MaxBytes(s.MaxBytes))
	}
	if s.Header > 0 {
		opts = append(opts, forge.HeaderTimeout(s.Header))
	}
	if s.Retry > 0 {
		policy := p.plan.World.Retry
		policy.MaxAttempts = s.Retry
		opts = append(opts, forge.Retry(policy))
	}
	if o.row.open != nil || o.row.upload {
		opts = append(opts, forge.Progress(func(int64, int64) { o.fire(p.w, inProgress) }))
	}
	return opts
}

const smuggled = "smuggled-secret"

// address returns the address of a read, so that ask can read it without the client; empty for
// writes.
func (p *player) address(o *observed, c *calling) string {
	if o.row.writes() || o.row.more || o.step.Smuggle != "" {
		return ""
	}
	var plan forge.PlannedRequest
	dry := *c
	dry.opts = slices.Concat(c.opts, []forge.RequestOption{forge.DryRun(&plan)})
	var err error
	switch {
	case o.row.items != nil:
		_, collect := o.row.items(&dry)
		_, err = collect()
	case o.row.open != nil:
		_, err = o.row.open(&dry)
	default:
		_, err = o.row.value(&dry)
	}
	if !errors.Is(err, forge.ErrDryRun) {
		panic(fmt.Sprintf("%s cannot be planned: %v", o.row.name, err))
	}
	o.response = forge.Response{}
	return plan.URL
}

// spoken returns all text that a step received.
func spoken(o *observed) []string {
	texts := []string{fmt.Sprint(o.response), fmt.Sprint(o.recovered)}
	errs := []error{o.err}
	for _, w := range o.walks {
		errs = append(errs, w.err)
		texts = append(texts, string(w.cursor))
	}
	if o.stream != nil {
		errs = append(errs, o.stream.err)
	}
	o.mu.Lock()
	attempts := slices.Clone(o.attempts) // a copy: a request for a token may outlast the step and add more
	o.mu.Unlock()
	for _, a := range attempts {
		errs = append(errs, a.Err)
		texts = append(texts, fmt.Sprintf("%+v", a.Attempt))
	}
	for _, err := range errs {
		if err != nil {
			texts = append(texts, fmt.Sprintf("%v\n%+v\n%#v", err, err, err))
		}
	}
	return texts
}

// path is the file to which a step saves its download.
func (p *player) path(s *Step) string { return filepath.Join(p.dir, s.ID+".saved") }

// old returns the content of the file before the step replaces it; nil if there is no file.
func (s *Step) old() []byte {
	if s.Variant%2 == 0 {
		return nil
	}
	return []byte("old content of " + s.ID)
}

// prepare creates the files and the records that steps need.
func (p *player) prepare() error {
	for _, o := range p.seen {
		if o.row.setup != nil {
			o.row.setup(p.f, o.step)
		}
		if o.step.Save && o.step.old() != nil {
			if err := os.WriteFile(p.path(o.step), o.step.old(), 0o600); err != nil {
				return err
			}
		}
		if o.row.upload && o.step.Source == fromDisk {
			if err := os.WriteFile(p.upload(o.step), content(o.step), 0o600); err != nil {
				return err
			}
		}
	}
	return nil
}
