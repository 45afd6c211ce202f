package forge

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/forge-sdk/forge-go/internal/contracttest/callresult"
	"github.com/forge-sdk/forge-go/internal/racetest"
)

// This file has the trials of TestCompleteOrError: one list that is interrupted once and then
// continued.

// trialList is a list whose items have numbers.
type trialList func(ctx context.Context, c *Client, opts ...RequestOption) iter.Seq2[int64, error]

// numbersOf returns the numbers of items. An item together with an error has number -1, which is in
// no list.
func numbersOf[T any](items iter.Seq2[*T, error], number func(*T) int64) iter.Seq2[int64, error] {
	return func(yield func(int64, error) bool) {
		for item, err := range items {
			n := int64(0)
			switch {
			case err == nil && item == nil, err != nil && item != nil:
				n = -1
			case item != nil:
				n = number(item)
			}
			if !yield(n, err) {
				return
			}
		}
	}
}

func trialIssues(ctx context.Context, c *Client, opts ...RequestOption) iter.Seq2[int64, error] {
	return numbersOf(c.Issues.List(ctx, nil, opts...), func(i *Issue) int64 { return i.ID })
}

func trialEvents(ctx context.Context, c *Client, opts ...RequestOption) iter.Seq2[int64, error] {
	return numbersOf(c.AuditEvents.List(ctx, nil, opts...), func(e *AuditEvent) int64 { return e.ID })
}

func trialThings(ctx context.Context, c *Client, opts ...RequestOption) iter.Seq2[int64, error] {
	call := Call{Method: http.MethodGet, Route: "/things"}
	return numbersOf(ListAs[listRow](ctx, c, call, opts...), func(r *listRow) int64 { return r.ID })
}

// trialListOf returns a list that is read with the form.
func trialListOf(form *pagingForm) trialList {
	switch form.name {
	case "keyset":
		return trialEvents
	case "opaque links":
		return trialThings
	default:
		return trialIssues
	}
}

// trial is one list with one interruption.
type trial struct {
	form  *pagingForm
	list  trialList
	pages [][]string
	cause *listInterruption
	at    int // the page at which the list is interrupted
	ahead int
	// cursor is the start of the list; from is the number of items before it.
	cursor Cursor
	from   int
	client []Option
	bare   bool // the items are in an object, on a registry

	cancel context.CancelFunc // ends the context
}

func (k *trial) String() string {
	return fmt.Sprintf("%s, %s at page %d of %d, Ahead(%d), from item %d", k.form.name, k.cause.name, k.at, len(k.pages), k.ahead, k.from+1)
}

// run makes the trial and returns the problems.
func (k *trial) run(t *testing.T) (problems []string) {
	wrong := func(format string, args ...any) {
		problems = append(problems, k.String()+": "+fmt.Sprintf(format, args...))
	}
	list := &pagedList{form: k.form, pages: k.pages, disturb: k.disturb, next: k.next}
	if k.bare {
		list.envelop = registryCatalog
	}
	w, change := serveList(t, list)
	defer w.close()
	options := append(slices.Clone(k.client), WithRegistry(w.url+"/registry", w.url+"/auth"), WithRegistryCredentials("robot", "password"))
	client := wireClient(t, w.url, options...)
	defer client.CloseIdleConnections()
	ctx := k.context(t)
	defer k.cancel()
	if k.cause.before != nil {
		k.cause.before(k)
	}

	var page Response
	d := &drainedList{}
	out := callresult.Of(callresult.Patience, func() error {
		return d.read(k.list(ctx, client, k.requestOptions(&page, k.cursor)...), func(n int) {
			if k.cause.consume != nil {
				k.cause.consume(k, k.pageOf(k.from+n))
			}
		})
	})
	if out.Kind == callresult.Hung {
		wrong("it hangs")
		return problems
	}
	k.judge(d, out, wrong)
	if d.problem != "" || len(problems) > 0 {
		return problems
	}
	change(nil)
	k.goOn(t, client, d, page, wrong)
	return problems
}

// context returns the context of a call of the trial, which the cause may end.
func (k *trial) context(t *testing.T) (ctx context.Context) {
	t.Helper()
	if ctx, k.cancel = context.WithCancel(t.Context()); k.cause.expires {
		ctx, k.cancel = expiring(t.Context())
	}
	t.Cleanup(k.cancel)
	return ctx
}

func (k *trial) requestOptions(page *Response, cursor Cursor) []RequestOption {
	options := append([]RequestOption{PerPage(3), Into(page), StartAt(cursor)}, k.cause.options...)
	if k.ahead > 0 {
		options = append(options, Ahead(k.ahead))
	}
	return options
}

func (k *trial) disturb(r pageResponse) act {
	if r.page == k.at && k.cause.disturb != nil {
		return k.cause.disturb(k, r)
	}
	return nil
}

func (k *trial) next(page, _ int) int {
	if page == k.at && k.cause.next != nil {
		return k.cause.next(page)
	}
	return page + 1
}

// pageOf returns the page of the n-th item of the whole list, from 1.
func (k *trial) pageOf(n int) int {
	for i, items := range k.pages {
		if n -= len(items); n <= 0 {
			return i + 1
		}
	}
	return len(k.pages)
}

// before returns the number of items on the pages before a page.
func (k *trial) before(page int) (n int) {
	for _, items := range k.pages[:page-1] {
		n += len(items)
	}
	return n
}

// judge checks the property: the items are those of the server, in order and without a gap. Either
// all items came without an error, or an error came last and matches its cause.
func (k *trial) judge(d *drainedList, out callresult.Outcome, wrong func(string, ...any)) {
	total := k.before(len(k.pages) + 1)
	for i, n := range d.numbers {
		if n != int64(k.from+i+1) {
			wrong("item %d is number %d: %v", i+1, n, d.numbers)
			return
		}
	}
	if d.problem != "" {
		wrong("%s", d.problem)
	}
	delivered := k.from + len(d.numbers)
	switch {
	case out.Kind != callresult.Returned:
		wrong("it %s", out)
	case delivered > total:
		wrong("%d items of %d", delivered, total)
	case out.Err == nil && delivered < total:
		wrong("%d items of %d and no error", delivered, total)
	case out.Err == nil && k.mustFail(delivered):
		wrong("all items and no error")
	case out.Err != nil && k.cause.is == nil:
		wrong("it ends with: %v", out.Err)
	case out.Err != nil && !k.cause.is(out.Err):
		wrong("its error does not match the cause: %v", out.Err)
	case out.Err != nil && k.cause.consume != nil && k.at == len(k.pages):
		wrong("its last page was delivered, and then it ended with: %v", out.Err)
	case out.Err != nil && delivered != k.before(k.at) && k.exact():
		wrong("%d items before the error of page %d", delivered, k.at)
	}
}

// exact reports whether the error of a page must come instead of its items, also with prefetched
// pages.
func (k *trial) exact() bool {
	plain := k.cause.disturb != nil && !k.cause.expires && !k.cause.late && !k.cause.through
	return plain && !k.cause.is(context.Canceled)
}

// mustFail reports whether the list must end with an error.
func (k *trial) mustFail(int) bool {
	if k.cause.is == nil {
		return false
	}
	if k.cause.late {
		return k.cause.consume != nil && k.ahead == 0 && k.at < len(k.pages)
	}
	return true
}

// goOn continues at the cursor with an undisturbed server: it must get at least the remaining
// items, and at most the items of one page again.
func (k *trial) goOn(t *testing.T, client *Client, d *drainedList, page Response, wrong func(string, ...any)) {
	delivered, total := k.from+len(d.numbers), k.before(len(k.pages)+1)
	if delivered < total && page.Cursor.Done() {
		wrong("the cursor is finished after %d of %d items", delivered, total)
		return
	}
	again := &drainedList{}
	var last Response
	out := callresult.Of(callresult.Patience, func() error {
		return again.read(k.list(t.Context(), client, k.requestOptions(&last, page.Cursor)...), func(int) {})
	})
	first := total + 1
	if len(again.numbers) > 0 {
		first = int(again.numbers[0])
	}
	switch {
	case out.Kind != callresult.Returned || out.Err != nil || again.problem != "":
		wrong("going on at the cursor after %d items: it %s %s", delivered, out, again.problem)
	case first > delivered+1:
		wrong("going on at the cursor: items %d to %d are lost", delivered+1, first-1)
	case first <= delivered-4 || first <= k.from:
		wrong("going on at the cursor after %d items: begins again with item %d", delivered, first)
	case !last.Cursor.Done():
		wrong("going on at the cursor: the cursor is not finished at the end")
	}
	for i, n := range again.numbers {
		if n != int64(first+i) {
			wrong("going on at the cursor: %v", again.numbers)
			return
		}
	}
	if first+len(again.numbers) != total+1 {
		wrong("going on at the cursor: ends with item %d of %d", first+len(again.numbers)-1, total)
	}
}

// drainedList is the result of reading a list.
type drainedList struct {
	numbers []int64
	problem string
}

// read ranges over the list to its end, and returns its error.
func (d *drainedList) read(items iter.Seq2[int64, error], each func(n int)) (failed error) {
	for n, err := range items {
		switch {
		case n < 0:
			d.problem = "an item beside an error, or neither"
		case failed != nil:
			d.problem = "something comes behind the error"
		case err != nil:
			failed = err
			continue
		}
		if len(d.numbers) > 500 {
			d.problem = "it does not end"
			break
		}
		d.numbers = append(d.numbers, n)
		each(len(d.numbers))
	}
	return failed
}

// trialsOf returns the trials of a list with an interruption, at each page or at some pages. Each
// interruption has all of them with one form; with FORGE_LONG=1 with each form.
func trialsOf(form *pagingForm, list trialList, cursor Cursor, cause *listInterruption) (trials []*trial) {
	const pages = 7
	aheads := []int{0, 1, 2, 8, 64}
	number, forms := slices.Index(pagingForms, form), len(pagingForms)
	sampled := cause.sampled || racetest.Enabled || !longForm() && slices.Index(listInterruptions, cause)%forms != number
	if sampled {
		aheads = []int{0, 2, 64}
	}
	for at := 1; at <= pages; at++ {
		if sampled && (at+number)%3 != 1 {
			continue
		}
		sizes := pageSizes(pages, 3)
		if cause.sizes != nil {
			cause.sizes(sizes, at)
		}
		all := numberedPages(idItem, sizes...)
		for _, ahead := range aheads {
			k := &trial{form: form, list: list, pages: all, cause: cause, at: at, ahead: ahead}
			trials = append(trials, k)
			if at > 2 && !cause.fresh {
				later := *k
				later.cursor, later.from = cursor, 6
				trials = append(trials, &later)
			}
		}
	}
	return trials
}

// trialCursor returns the cursor of a list after some of its pages.
func trialCursor(t *testing.T, form *pagingForm, list trialList, pages [][]string, n int) Cursor {
	t.Helper()
	w, _ := serveList(t, &pagedList{form: form, pages: pages})
	defer w.close()
	client := wireClient(t, w.url)
	defer client.CloseIdleConnections()
	var page Response
	for range n {
		for _, err := range list(t.Context(), client, PerPage(3), OnePage(), Into(&page), StartAt(page.Cursor)) {
			if err != nil {
				t.Fatalf("%s: %v", form.name, err)
			}
		}
	}
	return page.Cursor
}

// runTrials runs the trials, some of them concurrently, and reports the first problems.
func runTrials(t *testing.T, trials []*trial) {
	t.Helper()
	var mu sync.Mutex
	bad, reported := 0, map[string]int{}
	var running sync.WaitGroup
	queue := make(chan *trial)
	for range 4 * runtime.GOMAXPROCS(0) {
		running.Go(func() {
			for k := range queue {
				problems := k.run(t)
				mu.Lock()
				if len(problems) > 0 {
					bad++
				}
				for _, problem := range problems {
					if reported[k.cause.name]++; reported[k.cause.name] <= 2 {
						t.Error(problem)
					}
				}
				mu.Unlock()
			}
		})
	}
	for _, k := range trials {
		queue <- k
	}
	close(queue)
	running.Wait()
	if bad > 0 {
		t.Errorf("%d of %d trials failed; by interruption: %v", bad, len(trials), reported)
	}
}
