package othercode

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	gitlab "gitlab.com/gitlab-org/api/client-go/v2"

	forge "github.com/forge-sdk/forge-go"
)

// The figures of docs/other-clients.md: with its own retries, client-go over forge sends a create
// again after a 502, and multiplies the reads.
func TestRetriesOfClientGo(t *testing.T) {
	for _, own := range []bool{true, false} {
		w := newWorld(t)
		w.host(local, func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusBadGateway) })
		s, creates, reads := over(w.client(local)), 1, 4
		if own {
			s.options = []gitlab.ClientOptionFunc{gitlab.WithCustomBackoff(func(_, _ time.Duration, _ int, _ *http.Response) time.Duration { return 0 })}
			creates, reads = 6, 24
		}
		git, err := s.clientGo()
		require.NoError(t, err)
		_, _, err = git.Issues.CreateIssue(1, &gitlab.CreateIssueOptions{Title: gitlab.Ptr("x")})
		require.Error(t, err)
		assert.Len(t, w.at(local), creates)
		_, _, err = git.Issues.GetIssue(1, 5)
		require.Error(t, err)
		assert.Len(t, w.at(local), reads)
	}
}

// The methods of client-go that put a token into the address, and WithToken, are refused.
func TestRefusedMethods(t *testing.T) {
	w := newWorld(t)
	w.host(local, func(rw http.ResponseWriter, _ *http.Request) { issue(rw, http.StatusOK) })
	git, err := over(w.client(local)).clientGo()
	require.NoError(t, err)
	for name, call := range map[string]func() error{
		"GetJobTokensJob": func() error {
			_, _, err := git.Jobs.GetJobTokensJob(&gitlab.GetJobTokensJobOptions{JobToken: gitlab.Ptr("x")})
			return err
		},
		"DeleteRegisteredRunner": func() error {
			_, err := git.Runners.DeleteRegisteredRunner(&gitlab.DeleteRegisteredRunnerOptions{Token: gitlab.Ptr("x")})
			return err
		},
		"WithToken": func() error {
			_, _, err := git.Issues.GetIssue(1, 5, gitlab.WithToken(gitlab.PrivateToken, "x"))
			return err
		},
	} {
		var invalid *forge.ValidationError
		require.ErrorAs(t, call(), &invalid, name)
	}
	assert.Empty(t, w.at(local))
}
