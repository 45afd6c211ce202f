package othercode

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const home = "https://a.example.com"

var (
	targets = []string{home, "https://b.example.com", "https://a.example.com:8443", "http://a.example.com"}
	codes   = []int{301, 302, 303, 307, 308}
)

// redirected is what happened to the redirected requests of a sender.
type redirected struct {
	requests   int
	leaks      []string // a token at another origin
	rewritten  []string // a success of a write that arrived with another method, or without its body
	successful int
	elsewhere  int // requests at another origin
}

// redirect sends each kind of request into each redirect.
func redirect(t *testing.T, w *world, s sender) (r redirected) {
	t.Helper()
	location, code := "", 0
	for _, target := range targets {
		w.host(target, func(rw http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/moved/") {
				issue(rw, http.StatusOK)
				return
			}
			rw.Header().Set("Location", location)
			rw.WriteHeader(code)
		})
	}
	for _, target := range targets {
		for _, code = range codes {
			for _, kind := range kinds {
				location = target + "/moved/to"
				name := fmt.Sprint(kind.name, " ", code, " ", target)
				err := kind.send(t.Context(), s, "the title")
				r.requests++
				atHome, arrived := w.at(home), w.at(target)
				require.NotEmpty(t, atHome, name)
				require.Equal(t, []string{token}, atHome[0].header["Private-Token"], name)
				if target == home {
					arrived = atHome[1:]
				} else {
					r.elsewhere += len(arrived)
					r.leaks = append(r.leaks, leaks(name, arrived)...)
				}
				if err == nil {
					require.NotEmpty(t, arrived, name)
					r.successful++
					if last := arrived[len(arrived)-1]; last.method != kind.method || kind.method != "GET" && titleOf([]byte(last.body)) != "the title" {
						r.rewritten = append(r.rewritten, name+": "+last.method)
					}
				}
			}
		}
	}
	return r
}

// leaks returns the requests with the token.
func leaks(name string, arrived []request) (found []string) {
	for _, a := range arrived {
		if strings.Contains(fmt.Sprint(a), token) {
			found = append(found, name)
		}
	}
	return found
}

// No redirect sends a token to another origin, and none changes a write. The same code alone shows
// that the test finds both.
func TestRedirects(t *testing.T) {
	w := newWorld(t)
	got := redirect(t, w, over(w.client(home)))
	assert.Empty(t, got.leaks)
	assert.Empty(t, got.rewritten)
	// On the origin: reads 2 x 5, writes 6 x 4. At two other origins with https: reads 2 x 5.
	assert.Equal(t, 10+24+20, got.successful)
	assert.Equal(t, 20, got.elsewhere, "no write arrives at another origin")
	w = newWorld(t)
	alone := redirect(t, w, w.alone(home))
	assert.NotEmpty(t, alone.leaks)
	assert.NotEmpty(t, alone.rewritten)
	t.Logf("%d requests each; over forge: %d tokens at another origin, %d writes rewritten; alone: %d and %d",
		got.requests, len(got.leaks), len(got.rewritten), len(alone.leaks), len(alone.rewritten))
}
