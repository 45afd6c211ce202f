package registry

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/distribution/distribution/v3/configuration"
	_ "github.com/distribution/distribution/v3/registry/auth/token"
	"github.com/distribution/distribution/v3/registry/handlers"
	_ "github.com/distribution/distribution/v3/registry/storage/driver/inmemory"
	"github.com/opencontainers/go-digest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
)

const manifestType = "application/vnd.docker.distribution.manifest.v2+json"

// setup is a registry, its token endpoint, and an API that must not receive their requests.
type setup struct {
	*testing.T
	realm *realm
	url   string
	api   *httptest.Server

	mu       sync.Mutex
	seen     []*http.Request // requests to the registry
	apiCalls int
}

func newSetup(t *testing.T) *setup {
	t.Helper()
	s := &setup{T: t, realm: newRealm(t)}
	config := &configuration.Configuration{
		Storage: configuration.Storage{
			"inmemory":    {},
			"delete":      {"enabled": true},
			"maintenance": {"uploadpurging": map[any]any{"enabled": false}},
		},
		Auth: configuration.Auth{"token": {
			"realm": s.realm.URL + "/jwt/auth", "issuer": issuer, "service": service, "jwks": s.realm.jwks,
			"signingalgorithms": []any{"ES256"},
		}},
		Catalog: configuration.Catalog{MaxEntries: 100},
	}
	app := handlers.NewApp(t.Context(), config)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.seen = append(s.seen, r.Clone(context.Background()))
		s.mu.Unlock()
		app.ServeHTTP(w, r)
	}))
	s.url = server.URL
	s.api = httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		s.mu.Lock()
		s.apiCalls++
		s.mu.Unlock()
	}))
	t.Cleanup(func() {
		server.Close()
		s.api.Close()
		assert.NoError(t, app.Shutdown())
	})
	return s
}

// client returns a client of the registry. It also has a token of the API, which must not be sent to
// the registry or its token endpoint.
func (s *setup) client() *forge.Client {
	s.Helper()
	transport := &http.Transport{}
	s.Cleanup(transport.CloseIdleConnections)
	client, err := forge.NewClient(s.api.URL,
		forge.WithToken("api-token-0123456789"), forge.WithHTTPClient(&http.Client{Transport: transport}),
		forge.WithRegistry(s.url, s.realm.URL), forge.WithRegistryCredentials(user, password))
	require.NoError(s, err)
	return client
}

// requests lists the requests to the registry since the last call of requests.
func (s *setup) requests() []*http.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := s.seen
	s.seen = nil
	return seen
}

// send sends a request of the test itself, with a token of the realm.
func (s *setup) send(method, path, contentType string, body []byte, scopes ...string) *http.Response {
	s.Helper()
	address := path
	if strings.HasPrefix(path, "/") {
		address = s.url + path
	}
	req, err := http.NewRequestWithContext(s.Context(), method, address, bytes.NewReader(body))
	require.NoError(s, err)
	req.Header.Set("Authorization", "Bearer "+s.realm.token(scopes...))
	req.Header.Set("Content-Type", contentType)
	req.Header.Set("Accept", manifestType)
	answer, err := http.DefaultClient.Do(req)
	require.NoError(s, err)
	defer func() { _ = answer.Body.Close() }()
	_, err = io.Copy(io.Discard, answer.Body)
	require.NoError(s, err)
	return answer
}

// push pushes an image with one layer under the given tags, and returns the digest of its manifest.
func (s *setup) push(image string, tags ...string) (reference string) {
	s.Helper()
	scope := "repository:" + image + ":pull,push"
	type descriptor struct {
		MediaType string        `json:"mediaType"`
		Size      int           `json:"size"`
		Digest    digest.Digest `json:"digest"`
	}
	blob := func(mediaType string, content []byte) descriptor {
		begun := s.send(http.MethodPost, "/v2/"+image+"/blobs/uploads/", "", nil, scope)
		require.Equal(s, http.StatusAccepted, begun.StatusCode)
		sum := digest.FromBytes(content)
		done := s.send(http.MethodPut, begun.Header.Get("Location")+"&digest="+sum.String(), "application/octet-stream", content, scope)
		require.Equal(s, http.StatusCreated, done.StatusCode)
		return descriptor{mediaType, len(content), sum}
	}
	manifest, err := json.Marshal(map[string]any{
		"schemaVersion": 2, "mediaType": manifestType,
		"config": blob("application/vnd.docker.container.image.v1+json", []byte(fmt.Sprintf(`{"image":%q,"tags":%q}`, image, tags))),
		"layers": []descriptor{blob("application/vnd.docker.image.rootfs.diff.tar.gzip", []byte("layer of "+image))},
	})
	require.NoError(s, err)
	for _, tag := range tags {
		pushed := s.send(http.MethodPut, "/v2/"+image+"/manifests/"+tag, manifestType, manifest, scope)
		require.Equal(s, http.StatusCreated, pushed.StatusCode)
		reference = pushed.Header.Get("Docker-Content-Digest")
	}
	s.requests()
	return reference
}

// has reports whether the registry has a manifest under a tag or digest.
func (s *setup) has(image, reference string) bool {
	s.Helper()
	answer := s.send(http.MethodHead, "/v2/"+image+"/manifests/"+reference, "", nil, "repository:"+image+":pull")
	s.requests()
	return answer.StatusCode == http.StatusOK
}
