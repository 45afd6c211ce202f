package forge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
)

// This file has the test setup of TestCallersCode: a server for each kind of call, and a client
// with a function of the caller that can misbehave.

// errShort reports that a call returned an incomplete result without an error.
var errShort = errors.New("less than there is, and no error")

// callersStage is one server and one client.
type callersStage struct {
	server *httptest.Server
	client *Client
	deed   misdeed
	piece  *callersPiece
	dir    string
	left   string // a file that a failed download has left

	later, armed atomic.Bool
	calls        atomic.Int64
	requests     atomic.Int64
	blocked      chan bool
	release      chan struct{}
	once         sync.Once
}

// act is called by the function of the caller, and misbehaves as the case requires.
func (s *callersStage) act() {
	if !s.armed.Load() {
		return
	}
	s.calls.Add(1)
	switch s.deed {
	case panics:
		panic(errCallersPanic)
	case goexits:
		runtime.Goexit()
	case blocks:
		select {
		case s.blocked <- true:
		default:
		}
		<-s.release
	}
}

// armLater lets the code misbehave from now on, if the kind of call requires this. It has an effect
// only once.
func (s *callersStage) armLater() {
	if s.later.CompareAndSwap(true, false) {
		s.armed.Store(true)
	}
}

// letGo ends the blocking of the code.
func (s *callersStage) letGo() { s.once.Do(func() { close(s.release) }) }

func (s *callersStage) close() {
	s.letGo()
	s.client.CloseIdleConnections()
	s.server.Close()
}

// callersPiece is a function of the caller that the library runs.
type callersPiece struct {
	name string
	// options add it to a client.
	options func(s *callersStage) []Option
	// only are the kinds of call that run it; nil means all.
	only []string
	// aside: it runs in a goroutine of the library or of net/http.
	aside bool
	// behind: it may run after the call has succeeded, and then does not change the result.
	behind bool
	// shared: other calls with the same credential wait for it, too.
	shared bool
}

var callersPieces = []*callersPiece{
	{name: "the hook", options: func(s *callersStage) []Option {
		return []Option{WithToken(secret), WithOnAttempt(func(context.Context, Attempt) { s.act() })}
	}},
	{name: "the limiter", options: func(s *callersStage) []Option {
		return []Option{WithToken(secret), WithLimiter(actingLimiter(func(context.Context) error { s.act(); return nil }))}
	}},
	{name: "the slog handler", options: func(s *callersStage) []Option {
		return []Option{WithToken(secret), WithLogger(slog.New(actingHandler(s.act)))}
	}},
	{name: "the transport", options: func(s *callersStage) []Option {
		base := &http.Transport{}
		return []Option{WithToken(secret), WithHTTPClient(&http.Client{Transport: &actingTransport{base, s.act}})}
	}},
	{name: "the token source", aside: true, shared: true, options: func(s *callersStage) []Option {
		return []Option{WithTokenSource(actingSource(func() (*oauth2.Token, error) {
			s.act()
			return &oauth2.Token{AccessToken: secret}, nil
		}))}
	}},
	{name: "WithOnRefresh", aside: true, shared: true, only: []string{"get", "list", "list, Ahead(4)", "exec", "upload", "download", "preview"},
		options: func(s *callersStage) []Option {
			config := &oauth2.Config{ClientID: "id", ClientSecret: secret, Endpoint: oauth2.Endpoint{TokenURL: s.server.URL + "/token", AuthStyle: oauth2.AuthStyleInParams}}
			return []Option{WithOAuth(config, &oauth2.Token{AccessToken: "old", RefreshToken: "r1", Expiry: time.Now().Add(-time.Minute)}),
				WithOnRefresh(func(*oauth2.Token) { s.act() })}
		}},
	{name: "File.Open", aside: true, only: []string{"upload of Open"}},
	{name: "the reader of File.Open", aside: true, only: []string{"upload of a reader from Open"}},
	{name: "the Close of File.Open's reader", aside: true, behind: true, only: []string{"upload of a closer from Open"}},
	{name: "the reader of FileReader", aside: true, only: []string{"upload of FileReader"}},
	{name: "Progress of an upload", aside: true, only: []string{"upload with Progress"}},
	{name: "Progress of a download", only: []string{"download with Progress", "download to a file with Progress"}},
}

// callersCall is a kind of call.
type callersCall struct {
	name string
	run  func(ctx context.Context, s *callersStage) error
	// later: the code misbehaves only after the call has begun, when it runs in goroutines of the
	// library.
	later, aside bool
	// own: only the functions that name it in only use it.
	own bool
}

var callKinds = []*callersCall{
	{name: "get", run: func(ctx context.Context, s *callersStage) error { return s.get(ctx) }},
	{name: "exec", run: func(ctx context.Context, s *callersStage) error { return s.client.Emails.Delete(ctx, 5) }},
	{name: "list", run: callList(listRowCall)},
	{name: "list, Ahead(4)", run: callList(listRowCall, Ahead(4))},
	{name: "list, Ahead(4), behind its first item", later: true, aside: true, run: callList(listRowCall, Ahead(4))},
	{name: "list by number, Ahead(4), behind its first item", later: true, aside: true, run: callList(issueCall, Ahead(4))},
	{name: "upload", run: callUpload(func(*callersStage) File { return FileBytes(uploadContent) })},
	{name: "download", run: callDownload()},
	{name: "preview", run: previewTags},
	{name: "preview, at its tags", later: true, aside: true, run: previewTags},
	{name: "upload of Open", own: true, run: callUpload(func(s *callersStage) File {
		return File{Name: "f", Size: int64(len(uploadContent)), Open: func() (io.ReadCloser, error) {
			s.act()
			return io.NopCloser(bytes.NewReader(uploadContent)), nil
		}}
	})},
	{name: "upload of a reader from Open", own: true, run: callUpload(func(s *callersStage) File {
		return File{Name: "f", Size: int64(len(uploadContent)), Open: func() (io.ReadCloser, error) {
			return io.NopCloser(&actingReader{bytes.NewReader(uploadContent), s.act}), nil
		}}
	})},
	{name: "upload of a closer from Open", own: true, run: callUpload(func(s *callersStage) File {
		return File{Name: "f", Size: int64(len(uploadContent)), Open: func() (io.ReadCloser, error) {
			return &actingCloser{bytes.NewReader(uploadContent), s.act}, nil
		}}
	})},
	{name: "upload of FileReader", own: true, run: callUpload(func(s *callersStage) File {
		return FileReader(&actingReader{bytes.NewReader(uploadContent), s.act}, int64(len(uploadContent))).Named("f")
	})},
	{name: "upload with Progress", own: true, run: func(ctx context.Context, s *callersStage) error {
		return callUpload(func(*callersStage) File { return FileBytes(uploadContent) }, Progress(func(int64, int64) { s.act() }))(ctx, s)
	}},
	{name: "download with Progress", own: true, run: func(ctx context.Context, s *callersStage) error {
		return callDownload(Progress(func(int64, int64) { s.act() }))(ctx, s)
	}},
	{name: "download to a file with Progress", own: true, run: downloadToFile},
}

var uploadContent = bytes.Repeat([]byte("0123456789abcdef"), 4096)

func (s *callersStage) get(ctx context.Context) error {
	_, err := s.client.Users.GetCurrent(ctx, nil)
	return err
}

var (
	listRowCall = Call{Method: http.MethodGet, Route: "/things"}
	issueCall   = Call{Method: http.MethodGet, Route: "/issues"}
)

// callList reads a list. After the first item it arms the stage if the kind of call requires this.
func callList(call Call, opts ...RequestOption) func(context.Context, *callersStage) error {
	return func(ctx context.Context, s *callersStage) (failed error) {
		n := 0
		for _, err := range ListAs[listRow](ctx, s.client, call, append(opts, PerPage(3))...) {
			if err != nil {
				failed = err
				continue
			}
			n++
			s.armLater()
		}
		if failed == nil && n != 60 {
			return fmt.Errorf("%w: %d items", errShort, n)
		}
		return failed
	}
}

func callUpload(file func(*callersStage) File, opts ...RequestOption) func(context.Context, *callersStage) error {
	return func(ctx context.Context, s *callersStage) error {
		_, err := s.client.SecureFiles.Upload(ctx, ID(1), &UploadSecureFileOptions{Name: "f", File: file(s)}, opts...)
		return err
	}
}

func callDownload(opts ...RequestOption) func(context.Context, *callersStage) error {
	return func(ctx context.Context, s *callersStage) error {
		d, err := s.client.Repositories.Archive(ctx, ID(1), nil, opts...)
		if err != nil {
			return err
		}
		defer d.Close()
		n, err := io.Copy(io.Discard, d)
		if err == nil && int(n) != len(uploadContent) {
			return fmt.Errorf("%w: %d bytes", errShort, n)
		}
		return err
	}
}

// downloadToFile saves a download, and checks that a failed download leaves no file.
func downloadToFile(ctx context.Context, s *callersStage) error {
	saved := false
	defer func() {
		if left, _ := os.ReadDir(s.dir); !saved && len(left) > 0 {
			s.left = left[0].Name()
		}
	}()
	d, err := s.client.Repositories.Archive(ctx, ID(1), nil, Progress(func(int64, int64) { s.act() }))
	if err != nil {
		return err
	}
	defer d.Close()
	err = d.SaveTo(filepath.Join(s.dir, "archive"))
	saved = err == nil
	return err
}

func previewTags(ctx context.Context, s *callersStage) error {
	p, err := s.client.Registry.PreviewDeleteTags(ctx, ID(1), 7, &DeleteTagsOptions{NameRegexDelete: ".*"})
	if err == nil && len(p.Delete) != 20 {
		return fmt.Errorf("%w: %d tags", errShort, len(p.Delete))
	}
	return err
}

// newCallersStage starts a server, and creates a client with the function.
func newCallersStage(t *testing.T, piece *callersPiece, deed misdeed) *callersStage {
	t.Helper()
	s := &callersStage{deed: deed, piece: piece, dir: t.TempDir(), blocked: make(chan bool, 1), release: make(chan struct{})}
	s.server = httptest.NewServer(http.HandlerFunc(s.serve))
	options := []Option{WithToken(secret)}
	if piece != nil && piece.options != nil {
		options = piece.options(s)
	}
	if piece == nil || piece.name != "the transport" {
		options = append(options, WithHTTPClient(&http.Client{Transport: &http.Transport{}}))
	}
	client, err := NewClient(s.server.URL, append(options, WithRetry(impatient))...)
	require.NoError(t, err)
	s.client = client
	return s
}

func (s *callersStage) serve(w http.ResponseWriter, r *http.Request) {
	s.requests.Add(1)
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "application/json")
	const tags = "/api/v4/projects/1/registry/repositories/7/tags"
	name, isTag := strings.CutPrefix(r.URL.Path, tags+"/")
	switch path := strings.TrimPrefix(r.URL.Path, "/api/v4"); {
	case path == "/token":
		fmt.Fprintf(w, `{"access_token":%q,"refresh_token":"r2","token_type":"bearer","expires_in":7200}`, secret)
	case r.Method == http.MethodDelete:
		w.WriteHeader(http.StatusNoContent)
	case r.Method == http.MethodPost:
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, `{"id":1,"name":"f"}`)
	case path == "/things", path == "/issues":
		form := pagingForms[6]
		if path == "/issues" {
			form = pagingForms[3]
		}
		s.servePage(w, r, form)
	case strings.Contains(path, "/archive"):
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(uploadContent)
	case r.URL.Path == tags:
		names := make([]map[string]string, 20)
		for i := range names {
			names[i] = map[string]string{"name": fmt.Sprintf("v%02d", i)}
		}
		_ = json.NewEncoder(w).Encode(names)
	case isTag:
		s.armLater()
		fmt.Fprintf(w, `{"name":%q,"created_at":"2026-01-02T03:04:05Z"}`, name)
	default:
		fmt.Fprint(w, `{"id":1}`)
	}
}

// servePage serves a page of a list of 60 items on 20 pages.
func (s *callersStage) servePage(w http.ResponseWriter, r *http.Request, form *pagingForm) {
	list := &pagedList{form: form, pages: numberedPages(idItem, slices.Repeat([]int{3}, 20)...)}
	page := list.respond(r.URL.Query())
	for _, line := range page.header {
		name, value, _ := strings.Cut(line, ": ")
		w.Header().Set(name, value)
	}
	fmt.Fprint(w, page.body)
}

// actingLimiter, actingHandler, actingSource, actingTransport, actingReader and actingCloser are
// code of the caller.
type actingLimiter func(ctx context.Context) error

func (f actingLimiter) Wait(ctx context.Context) error { return f(ctx) }

type actingHandler func()

func (f actingHandler) Enabled(context.Context, slog.Level) bool  { return true }
func (f actingHandler) Handle(context.Context, slog.Record) error { f(); return nil }
func (f actingHandler) WithAttrs([]slog.Attr) slog.Handler        { return f }
func (f actingHandler) WithGroup(string) slog.Handler             { return f }

type actingSource func() (*oauth2.Token, error)

func (f actingSource) Token() (*oauth2.Token, error) { return f() }

type actingTransport struct {
	base *http.Transport
	act  func()
}

func (a *actingTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	a.act()
	return a.base.RoundTrip(req)
}

func (a *actingTransport) CloseIdleConnections() { a.base.CloseIdleConnections() }

type actingReader struct {
	io.Reader
	act func()
}

func (a *actingReader) Read(p []byte) (int, error) {
	a.act()
	return a.Reader.Read(p)
}

type actingCloser struct {
	io.Reader
	act func()
}

func (a *actingCloser) Close() error {
	a.act()
	return nil
}
