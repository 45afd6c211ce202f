// Package proxy tests the client through the proxies that the environment names. net/http reads the
// environment once for a process, so the client runs in a child process: this test binary again.
package proxy

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/forge-sdk/forge-go"
)

const (
	token    = "glpat-THE-TOKEN-OF-THE-API"
	password = "THE-PASSWORD-OF-THE-PROXY"
)

// job has the calls of the child, and report their results.
type job struct {
	BaseURL   string
	Authority []byte // PEM; nil means the client's own transport
	Hosts     string // the address of all names that no proxy resolves
}

type report struct {
	Errors   []string // of a safe, an idempotent and a non-idempotent call; empty for success
	Attempts []int
	Applied  []bool
	Log      string
}

func TestMain(m *testing.M) {
	if text := os.Getenv("PROXY_TEST_JOB"); text != "" {
		child(text)
		return
	}
	goleak.VerifyTestMain(m)
}

// child makes the calls and prints the report.
func child(text string) {
	var j job
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		panic(err)
	}
	var log strings.Builder
	options := []forge.Option{
		forge.WithToken(token), forge.WithPlainHTTP(), forge.WithRetry(forge.RetryPolicy{MinWait: time.Millisecond, MaxWait: 2 * time.Millisecond}),
		forge.WithLogger(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))),
	}
	if j.Authority != nil || j.Hosts != "" {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		if j.Authority != nil {
			transport.TLSClientConfig = &tls.Config{RootCAs: x509.NewCertPool()}
			transport.TLSClientConfig.RootCAs.AppendCertsFromPEM(j.Authority)
		}
		if j.Hosts != "" {
			transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, network, j.Hosts)
			}
		}
		options = append(options, forge.WithHTTPClient(&http.Client{Transport: transport}))
	}
	client, err := forge.NewClient(j.BaseURL, options...)
	if err != nil {
		panic(err)
	}
	ctx, project := context.Background(), forge.ID(1)
	_, safe := client.Issues.GetTimeStats(ctx, project, 1)
	_, idempotent := client.Issues.SetTimeEstimate(ctx, project, 1, &forge.SetTimeEstimateOptions{Duration: forge.WorkDuration(time.Hour)})
	_, once := client.Issues.AddSpentTime(ctx, project, 1, &forge.AddSpentTimeOptions{Duration: forge.WorkDuration(time.Hour)})
	var r report
	for _, err := range []error{safe, idempotent, once} {
		var failed *forge.Error
		if !errors.As(err, &failed) {
			failed = &forge.Error{}
		}
		said := ""
		if err != nil {
			said = fmt.Sprintf("%v %+v %#v", err, err, err)
		}
		r.Errors, r.Attempts, r.Applied = append(r.Errors, said), append(r.Attempts, failed.Attempts), append(r.Applied, failed.MaybeApplied)
	}
	r.Log = log.String()
	_ = json.NewEncoder(os.Stdout).Encode(r)
}

// run makes the calls in a child process with the given environment, and checks that the report
// contains no secret.
func run(t *testing.T, j job, environment ...string) report {
	t.Helper()
	text, err := json.Marshal(j)
	require.NoError(t, err)
	command := exec.CommandContext(t.Context(), os.Args[0])
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); !strings.HasSuffix(strings.ToUpper(name), "_PROXY") {
			command.Env = append(command.Env, entry)
		}
	}
	command.Env = append(append(command.Env, "PROXY_TEST_JOB="+string(text)), environment...)
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s", output)
	assert.NotContains(t, string(output), password)
	assert.NotContains(t, string(output), token)
	var r report
	require.NoError(t, json.Unmarshal(output, &r), "%s", output)
	require.NotEmpty(t, r.Log)
	return r
}

// requireSuccess checks that all calls succeeded.
func (r report) requireSuccess(t *testing.T) {
	t.Helper()
	require.Equal(t, []string{"", "", ""}, r.Errors)
}

// requireFailure checks the errors of all calls, and the attempts of each class.
func (r report) requireFailure(t *testing.T, says string, attempts ...int) {
	t.Helper()
	for _, said := range r.Errors {
		assert.Contains(t, said, says)
	}
	assert.Equal(t, attempts, r.Attempts)
}
