package forge

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
)

type pointerSource struct{ token *oauth2.Token }

func (s *pointerSource) Token() (*oauth2.Token, error) { return s.token, nil }

type pointerLimiter struct{ err error }

func (l *pointerLimiter) Wait(context.Context) error { return l.err }

type pointerTransport struct{ answer *http.Response }

func (p *pointerTransport) RoundTrip(*http.Request) (*http.Response, error) { return p.answer, nil }

// A nil reader, or a function that returns one, is refused before anything is sent or fails the call. It never ends the process.
func TestNilReaders(t *testing.T) {
	client := silentServer(t)
	for name, reader := range map[string]io.Reader{
		"nil": nil, "*bytes.Buffer": (*bytes.Buffer)(nil), "*strings.Reader": (*strings.Reader)(nil), "*os.File": (*os.File)(nil), "function": readFunc(nil),
	} {
		for _, size := range []int64{0, 3} {
			o := ends(t, func() error { return sendFile(t, client, FileReader(reader, size)) })
			refused(t, o.err, "File", "file")
			require.ErrorContains(t, o.err, "nil", name)
		}
	}
	overBoth(t, func(t *testing.T, c *Client, s *uploadServer) {
		for name, open := range map[string]func() (io.ReadCloser, error){
			"nil": func() (io.ReadCloser, error) { return nil, nil },
			"typed nil": func() (io.ReadCloser, error) {
				var file *os.File
				return file, nil
			},
		} {
			for _, size := range []int64{0, 3} {
				o := ends(t, func() error { return exec(t.Context(), uploadOf(c, File{Name: "a", Size: size, Open: open}), nil) })
				require.ErrorContains(t, o.err, "File.Open returned a nil reader", name)
				assert.False(t, asError(t, o.err).MaybeApplied)
			}
		}
		assert.Zero(t, s.count())
		require.NoError(t, exec(t.Context(), uploadOf(c, FileBytes(nil)), nil))
		assert.Equal(t, 1, s.count())
	})
	assert.NotPanics(t, func() {
		_, err := FileReader(nil, 1).Open()
		require.Error(t, err)
		refused(t, sendFile(t, client, File{Name: "a", Size: -1, Open: func() (io.ReadCloser, error) { panic("opened") }}), "File", "file")
	})
}

// Options that are nil change nothing, or are refused; none panics.
func TestNilOptions(t *testing.T) {
	options := map[string]Option{
		"Option": nil, "WithLogger": WithLogger(nil), "WithLimiter": WithLimiter(nil), "WithOnAttempt": WithOnAttempt(nil), "WithOnRefresh": WithOnRefresh(nil),
		"WithHTTPClient": WithHTTPClient(&http.Client{}),
	}
	requests := map[string]RequestOption{"RequestOption": nil, "Into": Into(nil), "Progress": Progress(nil)}
	for name, option := range options {
		w := newWire(t, always(sayJSON("{}")))
		c := wireClient(t, w.url, option)
		for _, k := range []class{safe, once} {
			o := ends(t, func() error { return c.Do(t.Context(), callOf(k), nil) })
			assert.Equal(t, callOutcome{returned: true}, o, name)
		}
	}
	for name, option := range requests {
		w := newWire(t, always(sayJSON("[]")))
		c := wireClient(t, w.url)
		for _, r := range runners {
			if name != "Progress" || r.name != "list" {
				assert.Equal(t, callOutcome{returned: true}, ends(t, func() error { return r.run(t.Context(), c, option) }), "%s %s", name, r.name)
			}
		}
		assert.Equal(t, callOutcome{returned: true}, ends(t, func() error { return exec(t.Context(), uploadOf(c, FileBytes([]byte("x"))), []RequestOption{option}) }), name)
	}
	require.ErrorIs(t, silentServer(t).Do(t.Context(), callOf(once), nil, DryRun(nil)), ErrDryRun)

	for name, option := range map[string]Option{
		"WithTokenSource": WithTokenSource((*pointerSource)(nil)), "WithLimiter": WithLimiter((*pointerLimiter)(nil)),
		"WithHTTPClient":  WithHTTPClient(&http.Client{Transport: (*pointerTransport)(nil)}),
		"WithHTTPClient ": WithHTTPClient(&http.Client{Transport: (*http.Transport)(nil)}), "WithHTTPClient  ": WithHTTPClient(nil),
		"WithTokenSource ": WithTokenSource(nil), "WithOAuth": WithOAuth(nil, nil), "WithHTTPClient   ": WithHTTPClient(&http.Client{Transport: roundTrip(nil)}),
	} {
		o := ends(t, func() error {
			_, err := NewClient("https://forge.example.com", option)
			return err
		})
		var invalid *ValidationError
		require.ErrorAs(t, o.err, &invalid, name)
		assert.Equal(t, strings.TrimSpace(name), invalid.Option)
	}
}

// A transport or a token source that returns nothing fails the call.
func TestNilResults(t *testing.T) {
	for _, r := range runners {
		o := ends(t, func() error {
			return r.run(t.Context(), bubbleClient(t, through(func(*http.Request) (*http.Response, error) { return nil, nil })), Retry(impatient))
		})
		require.ErrorContains(t, o.err, "the transport returned neither a response nor an error", r.name)
		asError(t, o.err)
		o = ends(t, func() error {
			return r.run(t.Context(), wireClient(t, "https://forge.example.com", WithTokenSource(tokenSource(func() (*oauth2.Token, error) { return nil, nil }))))
		})
		require.ErrorIs(t, o.err, ErrCredential, r.name)

		for _, status := range []int{200, 302, 404} {
			c := bubbleClient(t, through(func(*http.Request) (*http.Response, error) { return &http.Response{StatusCode: status}, nil }))
			o = ends(t, func() error { return r.run(t.Context(), c, Retry(impatient)) })
			assert.Nil(t, o.panicked, "%s %d", r.name, status)
		}
	}
}

// A transport that returns nothing for the token endpoint fails the call, too.
func TestNilTokenResponses(t *testing.T) {
	for name, response := range map[string]*http.Response{
		"no response": nil, "no body": {StatusCode: 200}, "no body of the length": {StatusCode: 200, ContentLength: 3}, "refusal": {StatusCode: 400},
	} {
		config := &oauth2.Config{ClientID: "id", Endpoint: oauth2.Endpoint{TokenURL: "https://forge.example.com/oauth/token"}}
		c := wireClient(t, "https://forge.example.com", WithOAuth(config, &oauth2.Token{RefreshToken: secret}),
			through(func(*http.Request) (*http.Response, error) { return response, nil }))
		o := ends(t, func() error { return c.Do(t.Context(), callOf(safe), nil, Retry(impatient)) })
		assert.Nil(t, o.panicked, name)
		require.ErrorIs(t, o.err, ErrCredential, name)
	}
}

// What reads and writes files of the caller's says what is missing.
func TestNilFilesOfReassignments(t *testing.T) {
	s := silentServer(t).PlaceholderReassignments
	var none iter.Seq2[*PlaceholderReassignment, error]
	for name, call := range map[string]func() error{
		"Read": func() error {
			_, err := Collect(s.Read(nil))
			return err
		},
		"Read of a typed nil": func() error {
			_, err := Collect(s.Read((*os.File)(nil)))
			return err
		},
		"Write":              func() error { return s.Write(nil, byHand()) },
		"Write of no rows":   func() error { return s.Write(io.Discard, nil) },
		"Write of a nil row": func() error { return s.Write(io.Discard, byHand(nil)) },
		"Collect": func() error {
			_, err := Collect(none)
			return err
		},
	} {
		o := ends(t, call)
		require.Error(t, o.err, "%s: %v", name, o.panicked)
		assert.True(t, strings.HasPrefix(o.err.Error(), "forge: "), "%s: %v", name, o.err)
	}
}

// Errors of local files say what was tried, and match the causes of package fs.
func TestLocalFileErrors(t *testing.T) {
	client := silentServer(t)
	dir := t.TempDir()
	err := sendFile(t, client, FileAt(filepath.Join(dir, "missing")))
	refused(t, err, "File", "file")
	require.ErrorIs(t, err, fs.ErrNotExist)
	var invalid *ValidationError
	require.ErrorAs(t, err, &invalid)

	path := filepath.Join(dir, "soon gone")
	require.NoError(t, os.WriteFile(path, []byte("content"), 0o600))
	file := FileAt(path)
	require.NoError(t, os.Remove(path))
	err = sendFile(t, client, file)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, "the body cannot be opened")
	require.NotErrorIs(t, err, ErrAnswer)
	assert.Equal(t, 1, asError(t, err).Attempts)
	assert.False(t, asError(t, err).MaybeApplied)

	broken := errors.New("the disk is full")
	s := client.PlaceholderReassignments
	err = s.Write(failingWriter{broken}, byHand())
	require.ErrorIs(t, err, broken)
	assert.Equal(t, "forge: writing the file of reassignments: the disk is full", err.Error())
	long := &PlaceholderReassignment{SourceHost: strings.Repeat("x", 10_000)}
	err = s.Write(failingWriter{broken}, byHand(long, long))
	require.ErrorIs(t, err, broken)
	assert.Equal(t, "forge: writing the file of reassignments: the disk is full", err.Error())
	gone := &Error{Method: "GET", Route: "/x", Status: 404, sentinel: ErrNotFound}
	err = s.Write(io.Discard, func(yield func(*PlaceholderReassignment, error) bool) { yield(nil, gone) })
	require.ErrorIs(t, err, ErrNotFound, "an error of the rows stays what it is")
}

// A nil pointer in a filter or a name is refused.
func TestNilFilters(t *testing.T) {
	c := silentServer(t)
	for _, call := range []func() error{
		func() error {
			return collectError(c.Issues.List(t.Context(), &ListIssuesOptions{AssigneeID: (*ID)(nil)}))
		},
		func() error {
			return collectError(c.Issues.List(t.Context(), &ListIssuesOptions{Not: &IssueNot{MilestoneID: (*milestoneTime)(nil)}}))
		},
		func() error { return c.Integrations.Disable(t.Context(), ID(1), (*IntegrationSlug)(nil)) },
		func() error { return c.Integrations.Set(t.Context(), ID(1), nil) },
		func() error { return c.Integrations.Disable(t.Context(), (*ID)(nil), IntegrationSlug("x")) },
		func() error { return c.Integrations.Disable(t.Context(), nil, IntegrationSlug("x")) },
	} {
		o := ends(t, call)
		var invalid *ValidationError
		require.ErrorAs(t, o.err, &invalid, "%v", o.panicked)
	}
	err := collectError(c.Issues.List(t.Context(), &ListIssuesOptions{Not: &IssueNot{MilestoneID: (*milestoneTime)(nil)}}))
	refused(t, err, "ListIssuesOptions.Not.MilestoneID", "not[milestone_id]")
}

func collectError[T any](items iter.Seq2[*T, error]) error {
	_, err := Collect(items)
	return err
}
