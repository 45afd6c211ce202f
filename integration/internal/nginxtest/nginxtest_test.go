package nginxtest_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/forge-sdk/forge-go/integration/internal/nginxtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func get(t *testing.T, s *nginxtest.Server) (*http.Response, string) {
	transport := s.Transport()
	defer transport.CloseIdleConnections()
	answer, err := (&http.Client{Transport: transport}).Get(s.URL + "/")
	require.NoError(t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer, string(body)
}

func TestServer(t *testing.T) {
	s := nginxtest.New(t, nginxtest.Config{Server: `location / { return 200 "plain"; }`})
	_, body := get(t, s)
	assert.Equal(t, "plain", body)
	s.Stop()
	assert.Contains(t, s.AccessLog()[0], "200 GET /")
	_, err := net.Dial("tcp", s.URL[len("http://"):])
	assert.ErrorContains(t, err, "refused")
}

func TestServerTLS(t *testing.T) {
	s := nginxtest.New(t, nginxtest.Config{TLS: true, Server: `location / { return 200 "secret"; }`})
	answer, body := get(t, s)
	assert.Equal(t, "secret", body)
	assert.Equal(t, 2, answer.ProtoMajor)
}

// An invalid configuration is an error immediately, not after a timeout.
func TestServerRefusesItsConfiguration(t *testing.T) {
	_, err := nginxtest.Start(t.TempDir(), nginxtest.Config{Server: "no_such_directive on;"})
	if errors.Is(err, nginxtest.ErrMissing) {
		t.Skip(err)
	}
	assert.ErrorContains(t, err, `unknown directive "no_such_directive"`)
}
