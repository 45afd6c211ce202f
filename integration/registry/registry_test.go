// Package registry tests the registry-native calls against the distribution registry, which runs in
// the test process with deletion enabled and accepts ES256 tokens of a token endpoint on another
// origin.
package registry

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	forge "github.com/forge-sdk/forge-go"
)

func TestMain(m *testing.M) {
	logrus.SetOutput(io.Discard)                                                                         // the registry's log
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/docker/go-events.(*Broadcaster).run")) // it never ends
}

// The catalogue has pages with relative links, and one token is used for all pages.
func TestCatalog(t *testing.T) {
	s := newSetup(t)
	var want []string
	for i := range 8 {
		want = append(want, fmt.Sprintf("group/sub/app-%d", i))
		s.push(want[i], "v1")
	}
	client := s.client()
	names, err := catalog(client.RegistryNative.ListCatalog(t.Context(), forge.PerPage(3)))
	require.NoError(t, err)
	assert.Equal(t, want, names)
	var queries []string
	for _, r := range s.requests() {
		queries = append(queries, r.URL.RawQuery)
		assert.Equal(t, "/v2/_catalog", r.URL.Path)
	}
	assert.Equal(t, []string{"n=3", "last=group%2Fsub%2Fapp-2&n=3", "last=group%2Fsub%2Fapp-5&n=3"}, queries)
	assert.Equal(t, []string{"registry:catalog:*"}, s.realm.scopes())

	names, err = catalog(client.RegistryNative.ListCatalog(t.Context(), forge.PerPage(2), forge.Ahead(3)))
	require.NoError(t, err)
	assert.Equal(t, want, names, "read ahead")

	var page forge.Response
	first, err := catalog(client.RegistryNative.ListCatalog(t.Context(), forge.PerPage(5), forge.OnePage(), forge.Into(&page)))
	require.NoError(t, err)
	rest, err := catalog(client.RegistryNative.ListCatalog(t.Context(), forge.PerPage(5), forge.StartAt(page.Cursor)))
	require.NoError(t, err)
	assert.Equal(t, want, slices.Concat(first, rest), "with a cursor in between")
	assert.Len(t, s.realm.scopes(), 1, "one token was used for all pages")
}

func catalog(items func(func(*forge.CatalogRepository, error) bool)) (names []string, err error) {
	all, err := forge.Collect(items)
	for _, item := range all {
		names = append(names, item.Name)
	}
	return names, err
}

// A manifest is deleted with all its tags, a tag is deleted alone, and the slashes of image paths
// are kept.
func TestDeleteManifest(t *testing.T) {
	s := newSetup(t)
	const image = "group/sub/app"
	reference := s.push(image, "v1", "v2", "latest")
	client := s.client()

	require.NoError(t, client.RegistryNative.DeleteManifest(t.Context(), image, "v1", nil))
	seen := s.requests()
	require.Len(t, seen, 1)
	assert.Equal(t, "DELETE /v2/group/sub/app/manifests/v1", seen[0].Method+" "+seen[0].URL.EscapedPath())
	assert.Equal(t, manifestType, seen[0].Header.Get("Accept"), "GitLab's media type")
	assert.False(t, s.has(image, "v1"))
	assert.True(t, s.has(image, "v2") && s.has(image, reference), "the image still exists")

	require.NoError(t, client.RegistryNative.DeleteManifest(t.Context(), image, reference, nil))
	for _, gone := range []string{reference, "v2", "latest"} {
		assert.False(t, s.has(image, gone), gone)
	}
	err := client.RegistryNative.DeleteManifest(t.Context(), image, reference, nil)
	require.ErrorIs(t, err, forge.ErrNotFound)
	assert.ErrorContains(t, err, "manifest unknown")
	assert.Equal(t, []string{"repository:group/sub/app:delete"}, s.realm.scopes())
}

// A token that the registry refuses, although it is valid by its claims, is replaced once, and the
// call is sent again.
func TestTokenRefused(t *testing.T) {
	s := newSetup(t)
	s.push("group/app", "v1", "v2")
	client := s.client()
	s.realm.set(func(r *realm) { r.age = time.Hour })
	options := &forge.GetRegistryTokenOptions{Scopes: []forge.RegistryScope{forge.RepositoryScope("group/app", forge.RegistryActionDelete)}}
	old, err := client.RegistryNative.GetToken(t.Context(), options)
	require.NoError(t, err)
	s.realm.set(func(r *realm) { r.age = 0 })

	require.NoError(t, client.RegistryNative.DeleteManifest(t.Context(), "group/app", "v1", nil))
	seen := s.requests()
	require.Len(t, seen, 2)
	assert.Equal(t, "Bearer "+old.Token, seen[0].Header.Get("Authorization"))
	assert.NotEqual(t, seen[0].Header.Get("Authorization"), seen[1].Header.Get("Authorization"))
	assert.Len(t, s.realm.scopes(), 2)

	s.realm.set(func(r *realm) { r.age = time.Hour })
	client = s.client()
	err = client.RegistryNative.DeleteManifest(t.Context(), "group/app", "v2", nil)
	require.ErrorIs(t, err, forge.ErrUnauthorized, "a second refusal is final")
	assert.Len(t, s.requests(), 2)
	s.realm.set(func(r *realm) { r.age = 0 })
	assert.True(t, s.has("group/app", "v2"))
}

// Each credential is sent only to its own origin, by calls and by redirects.
func TestOrigins(t *testing.T) {
	s := newSetup(t)
	s.push("group/app", "v1")
	var strayed atomic.Int64
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { strayed.Add(1) }))
	t.Cleanup(elsewhere.Close)
	moved := httptest.NewServer(http.RedirectHandler(elsewhere.URL+"/v2/_catalog", http.StatusTemporaryRedirect))
	t.Cleanup(moved.Close)

	client := s.client()
	_, err := forge.Collect(client.RegistryNative.ListCatalog(t.Context()))
	require.NoError(t, err)
	require.NoError(t, client.RegistryNative.DeleteManifest(t.Context(), "group/app", "v1", nil))
	for _, r := range s.requests() {
		scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		assert.Equal(t, "Bearer", scheme)
		assert.Equal(t, 2, strings.Count(token, "."), "a token of the realm")
		assert.Empty(t, r.Header.Get("Private-Token"))
	}
	for _, r := range s.realm.requests {
		assert.True(t, strings.HasPrefix(r.Header.Get("Authorization"), "Basic "))
		assert.Empty(t, r.Header.Get("Private-Token"))
	}
	assert.Zero(t, s.apiCalls)

	client, err = client.With(forge.WithRegistry(moved.URL, s.realm.URL))
	require.NoError(t, err)
	_, err = forge.Collect(client.RegistryNative.ListCatalog(context.Background()))
	require.ErrorIs(t, err, forge.ErrRedirect)
	assert.ErrorContains(t, err, elsewhere.URL)
	client, err = client.With(forge.WithRegistry(s.url, moved.URL))
	require.NoError(t, err)
	_, err = forge.Collect(client.RegistryNative.ListCatalog(t.Context()))
	require.ErrorIs(t, err, forge.ErrRedirect)
	assert.Zero(t, strayed.Load(), "no redirect to another origin is followed")
}
