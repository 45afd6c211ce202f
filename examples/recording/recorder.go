package main

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"
	"gopkg.in/dnaeon/go-vcr.v4/pkg/recorder"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/examples/internal/demo"
)

// exampleURL replaces the server's address in a recording.
const exampleURL = "https://forge.example.com"

// newRecorder records the responses of server over transport. If server is nil it replays, and no
// request leaves the process.
func newRecorder(path string, server *forge.Client, transport http.RoundTripper) (*recorder.Recorder, error) {
	options := []recorder.Option{
		recorder.WithMode(recorder.ModeReplayOnly), recorder.WithMatcher(sameRequest), recorder.WithSkipRequestLatency(true),
		recorder.WithFS(privateFiles{cassette.NewDiskFS()}),
	}
	if server != nil {
		// The hook runs before saving, not when a response arrives: the recorded program must see the
		// original response.
		options = append(options, recorder.WithMode(recorder.ModeRecordOnly), recorder.WithRealTransport(transport),
			recorder.WithHook(scrubber(server), recorder.BeforeSaveHook))
	}
	return recorder.New(path, options...)
}

// privateFiles writes recordings for their owner only, because they have not been reviewed yet.
type privateFiles struct{ cassette.FS }

// WriteFile replaces a recording atomically.
func (privateFiles) WriteFile(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return demo.SaveBytes(path, true, content)
}

// sameRequest reports whether a request matches a recorded one. It compares the full address and
// body, but not the headers.
func sameRequest(r *http.Request, recorded cassette.Request) bool {
	if r.Method != recorded.Method || r.URL.String() != recorded.URL {
		return false
	}
	if r.Body == nil || r.Body == http.NoBody {
		return recorded.Body == ""
	}
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body)) // the next recorded exchange is compared with it too
	return err == nil && string(body) == recorded.Body
}

// scrubber returns a hook that removes what must not be kept from an exchange: the client's
// credential wherever it is, the server's address, headers that are not needed, and values with the
// name of a secret.
func scrubber(server *forge.Client) recorder.HookFunc {
	secret := regexp.MustCompile(`(?i)("[a-z0-9_]*(?:token|password|passphrase|secret|private_key|access_key)[a-z0-9_]*"\s*:\s*)"(?:[^"\\]|\\.)*"`)
	address := strings.TrimSuffix(server.BaseURL(), "/api/v4")
	clean := func(text string) string {
		text = server.Redact(strings.ReplaceAll(text, address, exampleURL))
		return secret.ReplaceAllString(text, `$1"[redacted]"`)
	}
	return func(i *cassette.Interaction) error {
		i.Request = cassette.Request{
			Method: i.Request.Method, URL: clean(i.Request.URL), Body: clean(i.Request.Body), Headers: plain(i.Request.Headers, clean),
		}
		body := clean(i.Response.Body)
		i.Response = cassette.Response{
			Code: i.Response.Code, Status: i.Response.Status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
			ContentLength: int64(len(body)), Body: body, Headers: plain(i.Response.Headers, clean),
		}
		return nil
	}
}

// plain returns the headers that the client or a reader of the file may need. It omits others, such
// as cookies.
func plain(headers http.Header, clean func(string) string) http.Header {
	kept := maps.Clone(headers)
	maps.DeleteFunc(kept, func(name string, values []string) bool {
		for i := range values {
			values[i] = clean(values[i])
		}
		switch name {
		case "Accept", "Content-Type", "Content-Disposition", "Link", "Retry-After",
			"X-Page", "X-Per-Page", "X-Next-Page", "X-Prev-Page", "X-Total", "X-Total-Pages":
			return false
		}
		return true
	})
	return kept
}
