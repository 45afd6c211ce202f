package nginx

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/integration/internal/nginxtest"
)

func readAll(t *testing.T, r io.Reader) []byte {
	t.Helper()
	content, err := io.ReadAll(r)
	require.NoError(t, err)
	return content
}

// A download is never compressed in transit, so that its size is known and its bytes are those of
// the file.
func TestDownloadIsIdentity(t *testing.T) {
	for _, tls := range []bool{false, true} {
		t.Run(fmt.Sprintf("TLS %t", tls), func(t *testing.T) {
			p := build(t, nginxtest.Config{TLS: tls, Server: "client_max_body_size 0; gzip on; gzip_types *; gzip_proxied any; gzip_min_length 1;" + passed})
			content := bytes.Repeat([]byte("compresses well "), 128<<10) // 2 MiB
			file, err := p.client.SecureFiles.Upload(t.Context(), app, &forge.UploadSecureFileOptions{Name: "key", File: forge.FileBytes(content)})
			require.NoError(t, err)
			got, err := p.client.SecureFiles.Download(t.Context(), app, file)
			require.NoError(t, err)
			defer got.Close()
			assert.EqualValues(t, len(content), got.Size)
			assert.True(t, bytes.Equal(content, readAll(t, got)))
			p.nginx.Stop()
			lines := p.nginx.AccessLog()
			assert.True(t, strings.HasSuffix(lines[len(lines)-1], " -"), lines)
			p.srv.AssertAppliedCount(t, uploads, 1)
		})
	}
}

// streamer serves an archive of unknown length: the first part immediately, and the rest when the
// test requests it.
type streamer struct {
	*httptest.Server
	more, gone chan struct{}
}

const piece = 64 << 10

func newStreamer(t *testing.T) *streamer {
	s := &streamer{more: make(chan struct{}), gone: make(chan struct{})}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.URL.Path, "archive") {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte("{}"))
			return
		}
		defer close(s.gone)
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(bytes.Repeat([]byte("a"), piece))
		_ = http.NewResponseController(w).Flush()
		select {
		case <-s.more:
			_, _ = w.Write(bytes.Repeat([]byte("b"), piece))
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// Without buffering an archive arrives while it is generated: its start can be read while the
// server still generates the rest.
func TestDownloadUnbuffered(t *testing.T) {
	s := newStreamer(t)
	front := proxy(t, s.URL, nginxtest.Config{Server: "proxy_buffering off;" + passed})
	archive, err := connect(t, front.URL, front.Transport()).Repositories.Archive(t.Context(), app, nil)
	require.NoError(t, err)
	defer archive.Close()
	assert.EqualValues(t, -1, archive.Size)
	start := make([]byte, piece)
	_, err = io.ReadFull(archive, start)
	require.NoError(t, err)
	close(s.more)
	assert.Equal(t, bytes.Repeat([]byte("b"), piece), readAll(t, archive))
}

// A download that the caller cancels ends for nginx and for the server, and the client can be used
// further.
func TestDownloadCancelled(t *testing.T) {
	for name, tls := range map[string]bool{"HTTP/1.1": false, "HTTP/2": true} {
		t.Run(name, func(t *testing.T) {
			s := newStreamer(t)
			front := proxy(t, s.URL, nginxtest.Config{TLS: tls, Server: "proxy_buffering off;" + passed})
			client := connect(t, front.URL, front.Transport())
			ctx, cancel := context.WithCancel(t.Context())
			archive, err := client.Repositories.Archive(ctx, app, nil)
			require.NoError(t, err)
			_, err = io.ReadFull(archive, make([]byte, piece))
			require.NoError(t, err)
			cancel()
			_, err = io.ReadAll(archive)
			require.ErrorIs(t, err, context.Canceled)
			var failed *forge.Error
			require.ErrorAs(t, err, &failed)
			require.NoError(t, archive.Close())
			<-s.gone
			_, err = client.Issues.GetTimeStats(t.Context(), app, 1)
			require.NoError(t, err)
		})
	}
}
