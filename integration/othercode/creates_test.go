package othercode

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
)

// local is an address without TLS: a fault costs a connection.
const local = "http://127.0.0.1:1"

// shop is a server that creates, with a fault before or after the effect of most requests.
type shop struct {
	mu      sync.Mutex
	random  *rand.Rand
	created map[string]int
	sent    int
}

// effects returns the number of effects by title. A handler may still run: a response that its
// client has lost ends later.
func (s *shop) effects() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.created)
}

// requests returns the number of requests so far.
func (s *shop) requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent
}

func (s *shop) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	fault := s.random.IntN(12)
	s.sent++
	if fault >= 5 {
		s.created[titleOf(body)]++
	}
	s.mu.Unlock()
	switch fault {
	case 0, 7:
		reset(rw, "")
	case 1, 8:
		reset(rw, "HTTP/1.1 201 Created\r\nContent-Le")
	case 2:
		rw.WriteHeader(http.StatusTooManyRequests)
	case 3, 9:
		rw.WriteHeader(http.StatusBadGateway)
	case 4, 10:
		rw.WriteHeader(http.StatusServiceUnavailable)
	case 11:
		reset(rw, "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
	default:
		issue(rw, http.StatusCreated)
	}
}

// outcome is the result of a create.
type outcome struct {
	title string
	err   error
}

// create makes n creates in 16 goroutines, and returns their results.
func create(t *testing.T, kind kind, s sender, n int) []outcome {
	t.Helper()
	const workers = 16
	done := make(chan []outcome)
	for worker := range workers {
		go func() {
			var results []outcome
			for i := worker; i < n; i += workers {
				title := fmt.Sprint("create ", i)
				results = append(results, outcome{title, kind.send(t.Context(), s, title)})
			}
			done <- results
		}()
	}
	var all []outcome
	for range workers {
		all = append(all, <-done...)
	}
	return all
}

// Of 4,000 creates of each kind, none takes effect twice, each success has taken effect, and an
// error that is not a status knows whether it may have.
func TestCreatesOnce(t *testing.T) {
	const total = 4000
	for _, kind := range kinds {
		if kind.method != "POST" {
			continue
		}
		t.Run(kind.name, func(t *testing.T) {
			w, s := newWorld(t), &shop{random: rand.New(rand.NewPCG(7, 8)), created: map[string]int{}}
			w.host(local, s.ServeHTTP)
			succeeded, unknown := 0, 0
			outcomes := create(t, kind, over(w.client(local)), total)
			effects := s.effects()
			for _, o := range outcomes {
				n := effects[o.title]
				require.LessOrEqual(t, n, 1, o.title)
				var failed *forge.Error
				switch {
				case o.err == nil:
					succeeded++
					require.Equal(t, 1, n, o.title)
				case errors.As(o.err, &failed) && failed.Status == 0 && n == 1:
					unknown++
					require.True(t, failed.MaybeApplied, "%s: %v", o.title, o.err)
				}
			}
			assert.Greater(t, succeeded, total/10)
			assert.Greater(t, unknown, total/20)
			t.Logf("%d creates, %d requests, %d effects, 0 twice; %d successes, %d lost after the effect", total, s.requests(), len(effects), succeeded, unknown)
		})
	}
	t.Run("alone", func(t *testing.T) {
		w, s := newWorld(t), &shop{random: rand.New(rand.NewPCG(7, 8)), created: map[string]int{}}
		w.host(local, s.ServeHTTP)
		create(t, kinds[2], w.alone(local), 64)
		twice := 0
		for _, n := range s.effects() {
			if n > 1 {
				twice++
			}
		}
		assert.NotZero(t, twice, "the test finds what takes effect twice")
		t.Logf("client-go alone, with its default retries: %d of 64 take effect twice", twice)
	})
}
