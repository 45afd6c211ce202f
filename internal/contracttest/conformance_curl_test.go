package contracttest_test

import (
	"os"
	osexec "os/exec"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/internal/contracttest/cases"
)

// The curl command of a planned call sends the same request as the client, for every documented
// endpoint with all its parameters. The commands run in a real shell.
func TestCurlSendsTheSame(t *testing.T) {
	if _, err := osexec.LookPath("curl"); err != nil {
		t.Skip("there is no curl here")
	}
	server := newContractServer(t)
	curl := func(plan forge.PlannedRequest) {
		line := "curl --disable --silent --show-error --noproxy '*' " + strings.TrimPrefix(plan.Curl(), "curl ")
		cmd := osexec.CommandContext(t.Context(), "sh", "-c", line)
		cmd.Env = append(os.Environ(), "FORGE_TOKEN="+cases.Token, "REGISTRY_TOKEN="+cases.Token, "REGISTRY_USER="+cases.User, "REGISTRY_PASSWORD=password")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s\n%s", line, out)
	}
	compared := 0
	for _, c := range conformanceCases(t) {
		if c.Endpoint.ID == "secure_files.create" || c.Endpoint.ID == "placeholder_reassignments.submit" {
			continue // the boundary of a multipart body is random: see TestPlannedRequest
		}
		client := server.begin(t, c.Endpoint)
		call := c.calls(t, 0)[0]
		in, _ := c.Arguments(t, client, call.Filled)
		in = append(in, reflect.ValueOf(forge.SkipValidation()), reflect.ValueOf(forge.Header("X-Note", "it's \"$HOME\" `x` \\ !")))
		require.NoError(t, cases.Consume(c.Method.Call(in)), c.Name)
		want := server.end()[0]
		server.begin(t, c.Endpoint).CloseIdleConnections()
		client.CloseIdleConnections()
		var plan forge.PlannedRequest
		require.ErrorIs(t, cases.Consume(c.Method.Call(append(in, reflect.ValueOf(forge.DryRun(&plan))))), forge.ErrDryRun)
		require.Empty(t, server.end(), c.Name)
		curl(plan)
		require.Len(t, server.end(), 1, c.Name)
		got := server.end()[0]
		assert.Equal(t, want.header.Get("X-Note"), got.header.Get("X-Note"))
		assert.Equal(t, want.headers(), got.headers(), c.Name)
		want.header, got.header = nil, nil
		assert.Equal(t, want, got, c.Name)
		compared++
	}
	assert.Greater(t, compared, 90)
}
