package contracttest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	forge "github.com/forge-sdk/forge-go"
)

// The first three functions are in docs/other-clients.md, word for word.

// projectVisibility reads one field of a project with plain net/http.
func projectVisibility(ctx context.Context, client *forge.Client, project string) (string, error) {
	address := client.BaseURL() + "/projects/" + url.PathEscape(project)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return "", err
	}
	resp, err := client.HTTPClient().Do(req)
	if err != nil {
		return "", err // retries have ended
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return "", errors.New(resp.Status)
	}
	var read struct{ Visibility string }
	err = json.NewDecoder(resp.Body).Decode(&read)
	return read.Visibility, err
}

// graphQL sends a query and decodes its data into out.
func graphQL(ctx context.Context, client *forge.Client, query string, variables map[string]any, out any) error {
	body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
	if err != nil {
		return err
	}
	address, err := url.JoinPath(client.BaseURL(), "../graphql")
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.HTTPClient().Do(req)
	if err != nil {
		return err // a *forge.Error; MaybeApplied matters for a mutation
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return errors.New(resp.Status)
	}
	result := struct {
		Data   any
		Errors []struct{ Message string }
	}{Data: out}
	if err := json.NewDecoder(resp.Body).Decode(&result); err != nil {
		return err
	}
	if len(result.Errors) > 0 {
		return errors.New(result.Errors[0].Message)
	}
	return nil
}

// withTokens returns an http.Client that sends the tokens of source to one server.
func withTokens(address string, source oauth2.TokenSource) (*http.Client, error) {
	client, err := forge.NewClient(address, forge.WithTokenSource(source))
	if err != nil {
		return nil, err
	}
	return client.HTTPClient(), nil
}

func TestOtherClientsGuide(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v4/projects/{id}", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"visibility": %q}`, r.PathValue("id")+" "+r.Header.Get("Private-Token")+r.Header.Get("Authorization"))
	})
	mux.HandleFunc("POST /api/graphql", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), "wrong") {
			fmt.Fprint(w, `{"errors": [{"message": "no such field"}]}`)
			return
		}
		fmt.Fprintf(w, `{"data": {"sent": %q, "by": %q}}`, body, r.Header.Get("Private-Token"))
	})
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	client, err := forge.NewClient(srv.URL, forge.WithToken("the-token"))
	require.NoError(t, err)
	t.Cleanup(client.CloseIdleConnections)

	visibility, err := projectVisibility(t.Context(), client, "group/app")
	require.NoError(t, err)
	assert.Equal(t, "group/app the-token", visibility)

	var data struct{ Sent, By string }
	require.NoError(t, graphQL(t.Context(), client, "query", map[string]any{"n": 1}, &data))
	assert.JSONEq(t, `{"query": "query", "variables": {"n": 1}}`, data.Sent)
	assert.Equal(t, "the-token", data.By)
	require.EqualError(t, graphQL(t.Context(), client, "wrong", nil, &data), "no such field")

	withBearer, err := withTokens(srv.URL, oauth2.StaticTokenSource(&oauth2.Token{AccessToken: "the-access-token"}))
	require.NoError(t, err)
	resp, err := withBearer.Get(srv.URL + "/api/v4/projects/1")
	require.NoError(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Contains(t, string(text), "Bearer the-access-token")
	withBearer.Transport = &oauth2.Transport{Base: withBearer.Transport, Source: oauth2.StaticTokenSource(&oauth2.Token{AccessToken: "x"})}
	_, err = withBearer.Get(srv.URL)
	var invalid *forge.ValidationError
	require.ErrorAs(t, err, &invalid)
}

// The table of statuses in docs/other-clients.md is what the client does, for each status from 200 to 599
// but those of redirects.
func TestOtherClientsStatuses(t *testing.T) {
	var status, requests atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		w.WriteHeader(int(status.Load()))
	}))
	t.Cleanup(srv.Close)
	methods := [][]string{{"GET", "HEAD"}, {"PUT", "DELETE"}, {"POST", "PATCH", "OPTIONS"}}
	checked := map[int]bool{}
	for _, row := range tableRows(t, "docs/other-clients.md", "## Statuses and retries") {
		if strings.Contains(row[0], "Resource lock") {
			continue
		}
		for part := range strings.SplitSeq(row[0], ", ") {
			first, last, ranged := strings.Cut(part, "-")
			from, err := strconv.Atoi(first)
			require.NoError(t, err)
			to := from
			if ranged {
				to, err = strconv.Atoi(last)
				require.NoError(t, err)
			}
			for code := from; code <= to; code++ {
				assert.False(t, checked[code], "%d is in two rows", code)
				checked[code] = true
				for column, names := range methods {
					for _, method := range names {
						status.Store(int64(code))
						requests.Store(0)
						got := sendOnce(t, srv.URL, method)
						assert.Equal(t, code, got)
						want, known := map[string]int64{"response": 1, "retried": 2}[row[column+1]]
						require.True(t, known, row)
						assert.Equal(t, want, requests.Load(), "%s, %d", method, code)
					}
				}
			}
		}
	}
	assert.Len(t, checked, 400-5)
}

// sendOnce sends a request with a new client, which has its own retry budget, and returns the status.
func sendOnce(t *testing.T, address, method string) int {
	t.Helper()
	client, err := forge.NewClient(address, forge.WithRetry(forge.RetryPolicy{MaxAttempts: 2, MinWait: time.Microsecond, MaxWait: time.Microsecond}))
	require.NoError(t, err)
	req, err := http.NewRequestWithContext(t.Context(), method, address+"/api/v4/x", http.NoBody)
	require.NoError(t, err)
	resp, err := client.HTTPClient().Do(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode
}
