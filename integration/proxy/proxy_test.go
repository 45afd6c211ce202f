// Package proxy tests the client through the proxy that the environment names. net/http reads the
// environment once for a process, so the client runs in a child process: this test binary again.
package proxy

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/forge-sdk/forge-go"
)

const (
	token        = "glpat-THE-TOKEN-OF-THE-API"
	password     = "THE-PASSWORD-OF-THE-PROXY"
	authorityEnv = "PROXY_TEST_AUTHORITY"
)

// report has the errors of a read and of a write that must not run twice; empty for success.
type report struct {
	Errors []string
	Log    string
}

func TestMain(m *testing.M) {
	if authority, child := os.LookupEnv(authorityEnv); child {
		call(authority)
		return
	}
	goleak.VerifyTestMain(m)
}

// call makes the calls of the child process, and prints the report.
func call(authority string) {
	var log strings.Builder
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(authority))
	client, err := forge.NewClient("https://example.com", forge.WithToken(token), forge.WithRootCAs(roots),
		forge.WithRetry(forge.RetryPolicy{MinWait: time.Millisecond, MaxWait: 2 * time.Millisecond}),
		forge.WithLogger(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))))
	if err != nil {
		panic(err)
	}
	ctx, project := context.Background(), forge.ID(1)
	_, read := client.Issues.GetTimeStats(ctx, project, 1)
	_, write := client.Issues.AddSpentTime(ctx, project, 1, &forge.AddSpentTimeOptions{Duration: forge.WorkDuration(time.Hour)})
	var r report
	for _, err := range []error{read, write} {
		failed, text := &forge.Error{}, ""
		if errors.As(err, &failed) {
			text = fmt.Sprintf("%v %+v %#v", err, err, err)
		}
		r.Errors = append(r.Errors, text)
	}
	r.Log = log.String()
	_ = json.NewEncoder(os.Stdout).Encode(r)
}

// run makes the calls in a child process with a proxy, and checks that the report contains no
// secret.
func run(t *testing.T, proxy net.Addr, authority *x509.Certificate) (r report) {
	t.Helper()
	command := exec.CommandContext(t.Context(), os.Args[0])
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); !strings.HasSuffix(strings.ToUpper(name), "_PROXY") {
			command.Env = append(command.Env, entry)
		}
	}
	command.Env = append(command.Env, authorityEnv+"="+string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authority.Raw})),
		"HTTPS_PROXY=http://user:"+password+"@"+proxy.String())
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s", output)
	assert.NotContains(t, string(output), password)
	assert.NotContains(t, string(output), token)
	require.NoError(t, json.Unmarshal(output, &r), "%s", output)
	require.NotEmpty(t, r.Log)
	return r
}

// tunnel is a proxy that connects every name to one address. It records what clients send.
type tunnel struct {
	*httptest.Server
	target  string
	running sync.WaitGroup

	mu       sync.Mutex
	asked    []*http.Request
	received strings.Builder
}

func newTunnel(t *testing.T, target net.Addr) *tunnel {
	p := &tunnel{target: target.String()}
	p.Server = httptest.NewServer(http.HandlerFunc(p.serve))
	t.Cleanup(func() {
		p.Close()
		p.running.Wait()
	})
	return p
}

// Write records what a client has sent.
func (p *tunnel) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.received.Write(b)
}

func (p *tunnel) serve(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.asked = append(p.asked, r)
	p.mu.Unlock()
	server, err := new(net.Dialer).DialContext(r.Context(), "tcp", p.target)
	if err != nil {
		panic(err)
	}
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	_, _ = io.WriteString(client, "HTTP/1.1 200 OK\r\n\r\n")
	p.running.Go(func() {
		_, _ = io.Copy(server, io.TeeReader(buffered, p))
		_ = server.Close()
	})
	p.running.Go(func() {
		_, _ = io.Copy(client, server)
		_ = client.Close()
	})
}

// With CONNECT a proxy sees only the target of the connection and its own password. The API's token
// is inside TLS, and the API does not receive the proxy's password.
func TestTunnel(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		t.Run(fmt.Sprintf("HTTP/2 %t", http2), func(t *testing.T) {
			var headers []http.Header
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				headers = append(headers, r.Header.Clone())
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, "{}")
			}))
			s.EnableHTTP2 = http2
			s.StartTLS()
			t.Cleanup(s.Close)
			p := newTunnel(t, s.Listener.Addr())
			r := run(t, p.Listener.Addr(), s.Certificate())
			assert.Equal(t, []string{"", ""}, r.Errors)
			p.mu.Lock()
			defer p.mu.Unlock()
			require.Len(t, p.asked, 1, "one tunnel for all calls")
			assert.Equal(t, "example.com:443", p.asked[0].RequestURI)
			assert.Equal(t, "Basic "+base64.StdEncoding.EncodeToString([]byte("user:"+password)), p.asked[0].Header.Get("Proxy-Authorization"))
			assert.NotEmpty(t, p.received.String())
			assert.NotContains(t, p.received.String(), token)
			require.Len(t, headers, 2)
			for _, header := range headers {
				assert.Equal(t, token, header.Get("Private-Token"))
				assert.Empty(t, header.Get("Proxy-Authorization"))
			}
		})
	}
}
