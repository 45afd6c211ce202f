package main

import (
	"bytes"
	"io"
	"net/http"

	"gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"
	"gopkg.in/dnaeon/go-vcr.v4/pkg/recorder"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/examples/internal/demo"
)

// exampleURL replaces the server's address in a recording.
const exampleURL = "https://forge.example.com"

// newRecorder records the responses that a client gets over transport. Without a transport it
// replays, and no request leaves the process.
func newRecorder(path string, client *forge.Client, transport http.RoundTripper) (*recorder.Recorder, error) {
	scrub := newScrubber(client)
	options := []recorder.Option{
		recorder.WithMode(recorder.ModeReplayOnly), recorder.WithMatcher(scrub.same), recorder.WithSkipRequestLatency(true),
		recorder.WithFS(privateFiles{cassette.NewDiskFS()}),
	}
	if transport != nil {
		// The hook runs before saving, not when a response arrives: the recorded program must see the
		// original response.
		options = append(options, recorder.WithMode(recorder.ModeRecordOnly), recorder.WithRealTransport(transport),
			recorder.WithHook(scrub.exchange, recorder.BeforeSaveHook))
	}
	return recorder.New(path, options...)
}

// privateFiles writes recordings for their owner only, because they have not been reviewed yet.
type privateFiles struct{ cassette.FS }

// WriteFile replaces a recording atomically.
func (privateFiles) WriteFile(path string, content []byte) error {
	return demo.SaveBytes(path, true, content)
}

// same reports whether a request matches a recorded one: by its address and body.
func (s scrubber) same(r *http.Request, recorded cassette.Request) bool {
	if r.Method != recorded.Method || s.text(r.URL.String()) != recorded.URL {
		return false
	}
	if r.Body == nil || r.Body == http.NoBody {
		return recorded.Body == ""
	}
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body)) // the next recorded exchange is compared with it too
	return err == nil && s.text(string(body)) == recorded.Body
}
