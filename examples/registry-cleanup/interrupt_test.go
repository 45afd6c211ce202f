package main

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/examples/internal/demotest"
	"github.com/forge-sdk/forge-go/forgetest"
)

func TestMain(m *testing.M) { demotest.Main(m, main) }

// A program that is interrupted at any request fails, and does not say that it is done.
func TestInterrupted(t *testing.T) {
	n := demotest.Interrupt(t, "Deleted 14 tags", func(t *testing.T) (*forgetest.Server, []string) {
		return demotest.Server(t), []string{"-project", "acme/storefront", "-repository", "web", "-match", "(dev|mr)-.*", "-yes"}
	})
	assert.Greater(t, n, 20, "the reads of the preview among them")
}

// A server whose registry has no keyset pagination is cleaned up all the same.
func TestWithoutKeyset(t *testing.T) {
	srv := demotest.Server(t)
	target, err := url.Parse(srv.URL)
	require.NoError(t, err)
	forward := httputil.NewSingleHostReverseProxy(target)
	refused := 0
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("pagination") == "keyset" {
			refused++
			http.Error(w, `{"message":"405 Method Not Allowed"}`, http.StatusMethodNotAllowed)
			return
		}
		forward.ServeHTTP(w, r)
	}))
	defer proxy.Close()
	t.Setenv("FORGE_URL", proxy.URL)
	out, err := demotest.Run(t, run, "y\n", "-project", "acme/storefront", "-repository", "web", "-match", "(dev|mr)-.*")
	require.NoError(t, err)
	assert.Contains(t, out, "Deleted 14 tags.\n")
	assert.Equal(t, 1, refused, "it is remembered")
}

// What a user meets: a first run, a second one, the next day, servers that are empty or refuse.
func TestSituations(t *testing.T) {
	done := demotest.Outcome{Text: "12 tags: 0 to delete, and 5 to keep of those that match.\n"}
	(&demotest.Situations{
		Args:   []string{"-project", "acme/storefront", "-repository", "web", "-match", "(dev|mr)-.*"},
		Demo:   demotest.Outcome{Text: "Deleted 14 tags.\n"},
		First:  demotest.Outcome{Text: "Deleted 14 tags.\n"},
		Second: done, NextDay: done,
		Empty:   demotest.Outcome{Code: 2, Text: `project acme/storefront has no registry repository "web"`},
		Refused: 2,
	}).Check(t)
}
