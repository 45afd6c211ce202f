package forgetest_test

import (
	"crypto/sha256"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
)

// A GET of JSON has an ETag, which changes with the body, and If-None-Match makes it a 304: for
// routes of the contract and for added ones.
func TestConditionalRequests(t *testing.T) {
	srv := forgetest.New(t)
	app := srv.AddProject("acme/app")
	app.AddIssues(30, nil)
	srv.Handle("GET /groups/:id/jobs", func(w http.ResponseWriter, r *http.Request) {
		forgetest.WritePage(w, r, make([]job, app.AddIssue(nil).ID))
	})
	srv.Handle("POST /groups/:id/jobs", serveJob)
	for _, path := range []string{"/issues", "/groups/acme/jobs"} {
		first, body := fetch(t, srv, "GET", path, nil)
		tag := first.Header.Get("ETag")
		assert.Regexp(t, `^W/"[0-9a-f]{16}"$`, tag)
		app.AddIssue(nil)
		if path == "/issues" {
			second, changed := fetch(t, srv, "GET", path, nil)
			assert.NotEqual(t, sha256.Sum256(body), sha256.Sum256(changed))
			assert.NotEqual(t, tag, second.Header.Get("ETag"))
			tag = second.Header.Get("ETag")
		}
		for _, header := range []string{tag, tag[2:], `"other", ` + tag, "*"} {
			for _, method := range []string{"GET", "HEAD"} {
				same, none := fetch(t, srv, method, path, nil, "If-None-Match", header)
				assert.Equal(t, 304, same.StatusCode, "%s: %s", path, header)
				assert.Empty(t, none)
				assert.Equal(t, tag, same.Header.Get("ETag"))
				assert.Contains(t, same.Header.Get("Link"), `page=2&per_page=20>; rel="next"`)
				assert.Empty(t, same.Header.Get("Content-Type"))
				assert.Empty(t, srv.Requests()[len(srv.Requests())-1].ResponseBody)
				assert.Equal(t, 304, srv.Requests()[len(srv.Requests())-1].Status)
			}
		}
		other, body := fetch(t, srv, "GET", path, nil, "If-None-Match", `W/"other"`)
		assert.Equal(t, 200, other.StatusCode)
		assert.NotEmpty(t, body)
	}
	for method, path := range map[string]string{"POST": "/groups/acme/jobs", "GET": "/groups/none/jobs", "PUT": "/user"} {
		response, _ := fetch(t, srv, method, path, nil, "If-None-Match", "*")
		assert.NotEqual(t, 304, response.StatusCode)
		assert.Empty(t, response.Header.Get("ETag"))
	}
}

// The client returns the 304 as unchanged if the caller sent a condition.
func TestConditionalRequestsOfTheClient(t *testing.T) {
	srv := forgetest.New(t)
	app := srv.AddProject("acme/app")
	app.AddIssue(nil)
	srv.Handle(listJobs, serveJob)
	srv.Handle("GET /projects/:id/tagged", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"v1"`)
		forgetest.WriteJSON(w, r, 200, "text")
	})
	client := srv.Client()
	read := map[string]func(opts ...forge.RequestOption) error{
		"contract": func(opts ...forge.RequestOption) error {
			_, err := client.Issues.GetTimeStats(t.Context(), forge.ID(app.ID), 1, opts...)
			return err
		},
		"added": func(opts ...forge.RequestOption) error {
			return client.Do(t.Context(), call(listJobs, forge.ID(app.ID)), new(job), opts...)
		},
		"tag of the handler": func(opts ...forge.RequestOption) error {
			return client.Do(t.Context(), call("GET /projects/:id/tagged", forge.ID(app.ID)), nil, opts...)
		},
	}
	for name, get := range read {
		var response forge.Response
		require.NoError(t, get(forge.Into(&response)), name)
		tag := response.Header.Get("ETag")
		require.NotEmpty(t, tag, name)
		assert.Equal(t, name == "tag of the handler", tag == `"v1"`)
		err := get(forge.Header("If-None-Match", tag))
		assert.True(t, forge.IsNotModified(err), "%s: %v", name, err)
		require.NoError(t, get(forge.Header("If-None-Match", `"other"`)), name)
	}
}
