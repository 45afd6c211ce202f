package simulation

import (
	"context"
	"slices"
	"time"

	forge "github.com/forge-sdk/forge-go"
)

// walk is one iteration over a list.
type walk struct {
	start   forge.Cursor
	items   []any
	cursors []forge.Cursor // the cursor after each item; empty for Collect
	cursor  forge.Cursor   // at the end
	err     error
	left    bool // the caller left the list
	wrong   string
}

// walkAll reads a list once or twice, and continues from its cursor if the step resumes.
func (p *player) walkAll(o *observed, c *calling) {
	s := o.step
	all, collect := o.row.items(c)
	times := 1
	if s.Twice {
		times = 2
	}
	for range times {
		w := &walk{}
		o.walks = append(o.walks, w)
		if s.Collect {
			w.items, w.err = collect()
			w.cursor = o.response.Cursor
			continue
		}
		p.walk(o, w, all)
	}
	first := o.walks[len(o.walks)-1]
	if !s.Resume || first.cursor == "" || (first.err == nil && !first.left && !s.OnePage) {
		return
	}
	again := *c
	again.ctx = context.WithoutCancel(c.ctx) // as in a later run of the program
	again.opts = slices.Concat(c.opts, []forge.RequestOption{forge.StartAt(first.cursor)})
	all, _ = o.row.items(&again)
	w := &walk{start: first.cursor}
	o.walks = append(o.walks, w)
	o.limit = 0
	p.walk(o, w, all)
}

// walk ranges over a list. Only a walk from the start is left early.
func (p *player) walk(o *observed, w *walk, all func(func(any, error) bool)) {
	ended := false
	for item, err := range all {
		switch {
		case ended:
			w.wrong = "an item or error comes after the error"
		case item == nil && err == nil:
			w.wrong = "neither an item nor an error"
		case item != nil && err != nil:
			w.wrong = "both an item and an error"
		}
		if err != nil {
			w.err, ended = err, true
			continue
		}
		w.items = append(w.items, item)
		w.cursors = append(w.cursors, o.response.Cursor)
		w.cursor = o.response.Cursor
		o.fire(p.w, inLoop)
		if o.step.Slow > 0 {
			time.Sleep(o.step.Slow)
			o.slow += o.step.Slow
		}
		if o.step.Break == len(w.items) && w.start == "" {
			w.left = true
			break
		}
	}
	w.cursor = o.response.Cursor
}
