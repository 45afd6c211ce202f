package forge

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/forge-sdk/forge-go/internal/contracttest/callresult"
)

// completeRandom draws programs. Each reads a list of any shape in several runs until it is
// complete. Each run is interrupted somewhere, and the next one starts at its cursor. FORGE_SEED
// selects other programs, FORGE_PROGRAMS their number.
func completeRandom(t *testing.T) {
	noLeaks(t)
	number := func(name string, standard uint64) uint64 {
		if n, err := strconv.ParseUint(os.Getenv(name), 10, 64); err == nil {
			return n
		}
		return standard
	}
	seed, programs := number("FORGE_SEED", 20260101), number("FORGE_PROGRAMS", 300)
	t.Logf("FORGE_SEED=%d FORGE_PROGRAMS=%d", seed, programs)
	var running sync.WaitGroup
	next := make(chan uint64)
	var mu sync.Mutex
	failed := 0
	for range 2 * runtime.GOMAXPROCS(0) {
		running.Go(func() {
			for i := range next {
				problem := (&listProgram{random: rand.New(rand.NewPCG(seed+i, 0))}).run(t)
				mu.Lock()
				if problem != "" {
					if failed++; failed <= 5 {
						t.Errorf("FORGE_SEED=%d FORGE_PROGRAMS=1: %s", seed+i, problem)
					}
				}
				mu.Unlock()
			}
		})
	}
	for i := range programs {
		next <- i
	}
	close(next)
	running.Wait()
	if failed > 0 {
		t.Errorf("%d of %d programs failed", failed, programs)
	}
}

// listProgram is one program.
type listProgram struct {
	random *rand.Rand
	log    []string
}

func (p *listProgram) note(format string, args ...any) {
	p.log = append(p.log, fmt.Sprintf(format, args...))
}

func (p *listProgram) run(t *testing.T) (problem string) {
	form := pagingForms[p.random.IntN(len(pagingForms))]
	list := trialListOf(form)
	if form.name != "keyset" && p.random.IntN(3) == 0 {
		list = trialEvents // keyset pagination is requested, but not supported
	}
	sizes := make([]int, 1+p.random.IntN(9))
	total := 0
	for i := range sizes {
		sizes[i] = p.random.IntN(5)
		total += sizes[i]
	}
	p.note("%s, pages of %v", form.name, sizes)
	paged := &pagedList{form: form, pages: numberedPages(idItem, sizes...)}
	w, change := serveList(t, paged)
	defer w.close()
	client := wireClient(t, w.url, WithRetry(RetryPolicy{MinWait: impatient.MinWait, MaxWait: impatient.MaxWait, MaxAttempts: 1 + p.random.IntN(3)}))
	defer client.CloseIdleConnections()
	var cursor Cursor
	delivered := 0
	for runs := p.random.IntN(6); ; runs-- {
		k := &trial{form: form, list: list, pages: paged.pages, cause: listInterruptions[0], at: 1 + p.random.IntN(len(sizes))}
		if runs > 0 {
			k.cause = listInterruptions[p.random.IntN(len(listInterruptions))]
		}
		if k.cause.next != nil { // a program that continues after the repeated page finds no repetition
			k.cause = listInterruptions[0]
		}
		change(k.disturb)
		k.ahead = []int{0, 0, 1, 2, 3, 8, 64}[p.random.IntN(7)]
		leave := -1
		if runs > 0 && p.random.IntN(4) == 0 {
			leave = p.random.IntN(total + 1)
		}
		done, problem := p.read(t, k, client, &cursor, &delivered, leave)
		if problem != "" {
			return strings.Join(append(p.log, problem), "; ")
		}
		if done || runs < -1 {
			if delivered != total || !cursor.Done() {
				return strings.Join(append(p.log, fmt.Sprintf("%d items of %d, cursor finished: %t", delivered, total, cursor.Done())), "; ")
			}
			return ""
		}
	}
}

// read is one run. Like a program, it stores the cursor before it processes an item.
func (p *listProgram) read(t *testing.T, k *trial, client *Client, cursor *Cursor, delivered *int, leave int) (done bool, problem string) {
	p.note("then %s at page %d, Ahead(%d), left at item %d", k.cause.name, k.at, k.ahead, leave)
	ctx := k.context(t)
	defer k.cancel()
	if k.cause.before != nil {
		k.cause.before(k)
	}
	var page Response
	var got []int64
	left := false
	out := callresult.Of(callresult.Patience, func() (failed error) {
		for n, err := range k.list(ctx, client, k.requestOptions(&page, *cursor)...) {
			if err != nil {
				failed = err
				continue
			}
			if len(got) == leave {
				left = true
				break
			}
			if got = append(got, n); k.cause.consume != nil {
				k.cause.consume(k, k.pageOf(int(n)))
			}
		}
		return failed
	})
	if out.Kind != callresult.Returned {
		return false, "it " + out.String()
	}
	*cursor = page.Cursor
	if len(got) > 0 && (int(got[0]) > *delivered+1 || !slices.IsSorted(got) || int(got[len(got)-1]-got[0]) != len(got)-1) {
		return false, fmt.Sprintf("after %d items came %v", *delivered, got)
	}
	if len(got) > 0 {
		*delivered = max(*delivered, int(got[len(got)-1]))
	}
	p.note("%v, %v", got, out.Err)
	switch {
	case out.Err != nil && (k.cause.is == nil || !k.cause.is(out.Err)):
		return false, "the error does not match the cause"
	case out.Err != nil || left:
		return false, ""
	case *delivered < k.before(len(k.pages)+1):
		return false, fmt.Sprintf("%d items and no error", *delivered)
	}
	return true, ""
}
