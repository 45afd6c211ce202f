package forge

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A refusal says what the endpoint needs, so that its reader need not look it up.
func TestErrorsThatHelp(t *testing.T) {
	runner := func(ctx context.Context, c *Client) error {
		_, err := c.Runners.Get(ctx, 1, Retry(RetryPolicy{MaxAttempts: 1}))
		return err
	}
	approvals := func(ctx context.Context, c *Client) error {
		_, err := c.ApprovalSettings.GetForGroup(ctx, Path("acme"))
		return err
	}
	changelog := func(ctx context.Context, c *Client) error {
		_, err := c.Repositories.GenerateChangelog(ctx, ID(1), &GenerateChangelogOptions{Version: "1.0.0"})
		return err
	}
	issues := func(ctx context.Context, c *Client) error {
		_, err := Collect(c.Issues.List(ctx, &ListIssuesOptions{Search: "x"}))
		return err
	}
	tests := []struct {
		name       string
		credential Option
		status     int
		call       func(context.Context, *Client) error
		says       string
		not        string
	}{
		{"a job token where it is not taken", WithJobToken("job-token-1"), 404, runner, "an access token instead of a CI job token", ""},
		{"a job token where it is taken", WithJobToken("job-token-1"), 403, changelog, "403", "job token"},
		{"an access token", WithToken("access-token-1"), 404, runner, "404", "job token"},
		{"a tier", WithToken("access-token-1"), 404, approvals, "needs Premium or Ultimate (Document 1 §4.5)", ""},
		{"no valid credential", WithToken("access-token-1"), 401, runner, "missing, wrong, expired or revoked", ""},
		{"a query that is too long", WithToken("access-token-1"), 414, issues, "use fewer or shorter filters", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(test.status) }))
			defer srv.Close()
			client, err := NewClient(srv.URL, test.credential)
			require.NoError(t, err)
			err = test.call(t.Context(), client)
			require.Error(t, err)
			assert.ErrorContains(t, err, test.says)
			if test.not != "" {
				assert.NotContains(t, err.Error(), test.not)
			}
		})
	}
}
