package forge

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/forge-sdk/forge-go/internal/contracttest/callresult"
)

// TestCallersCode tests code of the caller that panics, ends its goroutine, blocks or returns
// nonsense, in each place where the library runs it. A panic can be recovered by the goroutine that
// made the call, with the original value. An ended goroutine is an error of the call, or ends the
// goroutine that made the call. If the code runs in a goroutine of the library, the call ends with
// its context. Afterwards the client works as before, and no goroutine stays. The cases run in
// child processes, because a panic in another goroutine ends the process.
func TestCallersCode(t *testing.T) {
	var cases []childCase
	for _, piece := range callersPieces {
		for _, kind := range callKinds {
			if piece.only != nil && !slices.Contains(piece.only, kind.name) || kind.own && piece.only == nil {
				continue
			}
			for _, deed := range []misdeed{panics, goexits, blocks} {
				cases = append(cases, childCase{fmt.Sprintf("%s %s, %s", piece.name, deed, kind.name), func(t *testing.T) []string {
					return (&misbehaviour{piece: piece, kind: kind, deed: deed}).run(t)
				}})
			}
		}
	}
	for _, n := range []int{1 << 31, math.MaxInt} {
		for _, form := range pagingForms {
			cases = append(cases, childCase{fmt.Sprintf("Ahead(%d), %s", n, form.name), func(t *testing.T) []string { return hugeAhead(t, form, n) }})
		}
	}
	runInChild(t, append(cases, nonsenseCases()...))
}

// misdeed is how the caller's code misbehaves.
type misdeed string

const (
	panics  misdeed = "panics"
	goexits misdeed = "ends its goroutine"
	blocks  misdeed = "blocks"
)

// errCallersPanic is the value with which the caller's code panics.
var errCallersPanic = errors.New("the caller's own panic")

// misbehaviour is one function of the caller that misbehaves in one kind of call.
type misbehaviour struct {
	piece *callersPiece
	kind  *callersCall
	deed  misdeed

	stage *callersStage
}

// blockPatience is after how long a call hangs. A child ends a case that takes twice as long.
const blockPatience = callresult.Patience / 2

func (m *misbehaviour) run(t *testing.T) (problems []string) {
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	m.stage = newCallersStage(t, m.piece, m.deed)
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel) // after the case, so that the end of the context does not free leaked goroutines
	m.stage.later.Store(m.kind.later)
	m.stage.armed.Store(!m.kind.later)
	done := callresult.Start(func() error { return m.kind.run(ctx, m.stage) })
	if m.deed == blocks {
		m.judgeBlocked(done, cancel, wrong)
	} else {
		select {
		case out := <-done:
			m.judgeEnded(out, wrong)
		case <-time.After(blockPatience):
			wrong("it hangs")
			cancel()
			select {
			case out := <-done:
				wrong("after the context has ended it %s", out)
			case <-time.After(blockPatience):
				wrong("it hangs although its context has ended")
				return problems
			}
		}
	}
	if m.stage.left != "" {
		wrong("%s is left behind", m.stage.left)
	}
	m.stage.later.Store(false)
	m.stage.armed.Store(false)
	again := callresult.Of(blockPatience, func() error { return m.kind.run(t.Context(), m.stage) })
	if again.Kind != callresult.Returned || again.Err != nil {
		wrong("the next call of the client %s", again)
	}
	m.stage.close()
	return problems
}

// judgeEnded checks the result of a call whose code panicked or ended its goroutine.
func (m *misbehaviour) judgeEnded(out callresult.Outcome, wrong func(string, ...any)) {
	switch {
	case m.stage.calls.Load() == 0:
		wrong("the code was not called")
	case errors.Is(out.Err, errShort):
		wrong("it %s", out)
	case m.deed == panics && out.Kind != callresult.Panicked:
		wrong("the panic did not surface: it %s", out)
	case m.deed == panics && out.Value != any(errCallersPanic):
		wrong("another value surfaced: %v", out.Value)
	case m.deed == goexits && out.Kind != callresult.Exited && (out.Kind != callresult.Returned || out.Err == nil && !m.piece.behind):
		wrong("it %s", out)
	}
}

// judgeBlocked checks the result of a call whose code blocks until the end of the case.
func (m *misbehaviour) judgeBlocked(done <-chan callresult.Outcome, cancel context.CancelFunc, wrong func(string, ...any)) {
	defer m.stage.letGo()
	select {
	case <-m.stage.blocked:
	case out := <-done:
		wrong("the code was not called: it %s", out)
		return
	case <-time.After(blockPatience):
		wrong("the code is not called, and nothing happens")
		return
	}
	m.stage.armed.Store(false) // only this call blocks
	if !m.piece.shared {
		other := callresult.Of(blockPatience, func() error { return m.stage.get(context.Background()) })
		if other.Kind != callresult.Returned || other.Err != nil {
			wrong("meanwhile another call %s", other)
		}
	} else {
		ctx, stop := context.WithTimeout(context.Background(), 20*time.Millisecond)
		defer stop()
		if other := callresult.Of(blockPatience, func() error { return m.stage.get(ctx) }); other.Kind != callresult.Returned {
			wrong("meanwhile another call with a deadline %s", other)
		}
	}
	cancel()
	must := m.piece.aside || m.kind.aside
	if !must { // the call may block, because it runs the code in the caller's own goroutine
		m.stage.letGo()
	}
	select {
	case out := <-done:
		if must && (errors.Is(out.Err, errShort) || out.Kind != callresult.Returned || out.Err != nil && !errors.Is(out.Err, context.Canceled)) {
			wrong("its context has ended, and it %s", out)
		}
	case <-time.After(blockPatience):
		wrong("its context has ended, and it waits; its code runs in a goroutine of the library: %t", must)
	}
}

// hugeAhead reads a list with a nonsensical Ahead, in bounded memory.
func hugeAhead(t *testing.T, form *pagingForm, n int) (problems []string) {
	w, _ := serveList(t, &pagedList{form: form, pages: numberedPages(idItem, pageSizes(7, 3)...)})
	defer w.close()
	client := wireClient(t, w.url)
	defer client.CloseIdleConnections()
	var before, behind runtime.MemStats
	runtime.ReadMemStats(&before)
	d := &drainedList{}
	out := callresult.Of(blockPatience, func() error {
		return d.read(trialListOf(form)(t.Context(), client, PerPage(3), Ahead(n)), func(int) {})
	})
	runtime.ReadMemStats(&behind)
	var invalid *ValidationError
	switch {
	case out.Kind == callresult.Returned && errors.As(out.Err, &invalid): // it may be refused instead of limited
	case out.Kind != callresult.Returned || out.Err != nil:
		problems = append(problems, "it "+out.String())
	case len(d.numbers) != 20:
		problems = append(problems, fmt.Sprintf("%d items of 20", len(d.numbers)))
	}
	if used := behind.TotalAlloc - before.TotalAlloc; used > 64<<20 {
		problems = append(problems, fmt.Sprintf("%d MiB are allocated", used>>20))
	}
	return problems
}
