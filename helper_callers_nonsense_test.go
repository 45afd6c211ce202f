package forge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/oauth2"

	"github.com/forge-sdk/forge-go/internal/contracttest/callresult"
)

// This file has the cases of TestCallersCode in which the caller passes nil or nonsense. Each is
// refused or an error of the call, and never a panic that the goroutine of the call cannot recover.

// nonsense is one case. The call is made with a client that has the options, or with an ordinary
// client.
type nonsense struct {
	name    string
	options []Option
	call    func(ctx context.Context, s *callersStage) error
	// fine: the call may also succeed; otherwise it must return an error.
	fine bool
	// own: a panic that can be recovered is allowed, because the caller's own code panics.
	own bool
	// unsent: it must be refused before anything is sent.
	unsent bool
	// is is an error that the returned error must match.
	is error
	// endless: the call may run until its context ends.
	endless bool
}

var errCallersOwn = errors.New("the caller's own error")

func nonsenseCases() (cases []childCase) {
	for _, n := range slices.Concat(nonsenseOptions(), nonsenseRequestOptions(), nonsenseFiles()) {
		cases = append(cases, childCase{"nonsense: " + n.name, n.run})
	}
	return cases
}

func (n *nonsense) run(t *testing.T) (problems []string) {
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	s := newCallersStage(t, nil, "")
	defer s.close()
	counted := &s.requests
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := callresult.Of(blockPatience, func() error {
		if n.options != nil {
			client, err := NewClient(s.server.URL, append([]Option{WithRetry(impatient)}, n.options...)...)
			if err != nil {
				return err
			}
			defer client.CloseIdleConnections()
			s = &callersStage{server: s.server, client: client, dir: s.dir}
		}
		done := callresult.Start(func() error { return n.call(ctx, s) })
		if n.endless {
			cancel()
		}
		inner := <-done
		switch inner.Kind {
		case callresult.Panicked:
			panic(inner.Value)
		case callresult.Exited:
			return errors.New("the goroutine has ended")
		}
		return inner.Err
	})
	switch {
	case out.Kind == callresult.Panicked && n.own:
	case out.Kind != callresult.Returned:
		wrong("it %s", out)
	case errors.Is(out.Err, errShort) && !n.fine:
		wrong("%v", out.Err)
	case out.Err == nil && !n.fine:
		wrong("it is taken, and the call succeeds")
	case n.is != nil && !errors.Is(out.Err, n.is):
		wrong("the error does not match: %v", out.Err)
	case n.unsent && counted.Load() > 0:
		wrong("%d requests were sent: %v", counted.Load(), out.Err)
	}
	return problems
}

func plainGet(ctx context.Context, s *callersStage) error { return s.get(ctx) }

// nonsenseOptions returns invalid options of a client, and options whose values return nonsense.
func nonsenseOptions() []*nonsense {
	fresh := func(option Option, more ...Option) []Option {
		return append([]Option{WithHTTPClient(&http.Client{Transport: &http.Transport{}}), option}, more...)
	}
	token := WithToken(secret)
	returns := func(token *oauth2.Token, err error) []Option {
		return fresh(WithTokenSource(actingSource(func() (*oauth2.Token, error) { return token, err })))
	}
	trip := func(resp *http.Response, err error) []Option {
		return []Option{token, WithHTTPClient(&http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) { return resp, err })})}
	}
	var noTransport *http.Transport
	var noLimiter *nothingLimiter
	var noSource *nothingSource
	return []*nonsense{
		{name: "nil option", options: fresh(nil), call: plainGet, fine: true},
		{name: "WithOnAttempt(nil)", options: fresh(token, WithOnAttempt(nil)), call: plainGet, fine: true},
		{name: "WithLimiter(nil)", options: fresh(token, WithLimiter(nil)), call: plainGet, fine: true},
		{name: "WithLimiter, a nil pointer", options: fresh(token, WithLimiter(noLimiter)), call: plainGet, own: true, fine: true},
		{name: "WithLimiter, a nil function", options: fresh(token, WithLimiter(actingLimiter(nil))), call: plainGet, own: true},
		{name: "WithLogger(nil)", options: fresh(token, WithLogger(nil)), call: plainGet, fine: true},
		{name: "WithTokenSource(nil)", options: fresh(WithTokenSource(nil)), call: plainGet},
		{name: "WithTokenSource, a nil pointer", options: fresh(WithTokenSource(noSource)), call: plainGet, own: true},
		{name: "WithTokenSource, a nil function", options: fresh(WithTokenSource(actingSource(nil))), call: plainGet, own: true},
		{name: "WithOAuth(nil, nil)", options: fresh(WithOAuth(nil, nil)), call: plainGet},
		{name: "WithOAuth, no token", options: fresh(WithOAuth(&oauth2.Config{}, nil)), call: plainGet},
		{name: "WithOnRefresh(nil)", options: fresh(token, WithOnRefresh(nil)), call: plainGet, fine: true},
		{name: "WithHTTPClient(nil)", options: []Option{token, WithHTTPClient(nil)}, call: plainGet, fine: true},
		{name: "WithHTTPClient, no transport", options: []Option{token, WithHTTPClient(&http.Client{})}, call: plainGet, fine: true},
		{name: "WithHTTPClient, a nil pointer", options: []Option{token, WithHTTPClient(&http.Client{Transport: noTransport})}, call: plainGet},
		{name: "WithHTTPClient, a nil function", options: []Option{token, WithHTTPClient(&http.Client{Transport: roundTrip(nil)})}, call: plainGet, own: true},
		{name: "a limiter's error", options: fresh(token, WithLimiter(actingLimiter(func(context.Context) error { return errCallersOwn }))), call: plainGet, is: errCallersOwn, unsent: true},
		{name: "a limiter's error in a list", options: fresh(token, WithLimiter(actingLimiter(func(context.Context) error { return errCallersOwn }))),
			call: callList(listRowCall, Ahead(4)), is: errCallersOwn, unsent: true},
		{name: "no token, no error", options: returns(nil, nil), call: plainGet, is: ErrNoCredential, unsent: true},
		{name: "an empty token", options: returns(&oauth2.Token{}, nil), call: plainGet, is: ErrNoCredential, unsent: true},
		{name: "a token with a line break", options: returns(&oauth2.Token{AccessToken: "a\r\nb"}, nil), call: plainGet, is: ErrNoCredential, unsent: true},
		{name: "a token type with a line break", options: returns(&oauth2.Token{AccessToken: "a", TokenType: "a\r\nb"}, nil), call: plainGet, unsent: true},
		{name: "a token source's error", options: returns(nil, errCallersOwn), call: plainGet, is: errCallersOwn, unsent: true},
		{name: "a token and an error", options: returns(&oauth2.Token{AccessToken: "a"}, errCallersOwn), call: plainGet, is: errCallersOwn, unsent: true},
		{name: "no response, no error", options: trip(nil, nil), call: plainGet},
		{name: "no response, no error, in a list", options: trip(nil, nil), call: callList(listRowCall, Ahead(4))},
		{name: "no response, no error, in a download", options: trip(nil, nil), call: callDownload()},
		{name: "an empty response", options: trip(&http.Response{}, nil), call: plainGet},
		{name: "an empty response in a list", options: trip(&http.Response{}, nil), call: callList(listRowCall, Ahead(4))},
		{name: "a response without a body", options: trip(&http.Response{StatusCode: 200}, nil), call: plainGet},
		{name: "a response without a body, in a download", options: trip(&http.Response{StatusCode: 200}, nil), call: callDownload(), fine: true},
		{name: "a negative status", options: trip(&http.Response{StatusCode: -1, Body: http.NoBody}, nil), call: plainGet},
		{name: "a transport's error", options: trip(nil, errCallersOwn), call: plainGet, is: errCallersOwn},
		{name: "a response and an error", options: trip(&http.Response{StatusCode: 200, Body: http.NoBody}, errCallersOwn), call: plainGet, is: errCallersOwn},
	}
}

type nothingLimiter struct{ limit int }

func (n *nothingLimiter) Wait(context.Context) error { n.limit++; return nil }

type nothingSource struct{ token string }

func (n *nothingSource) Token() (*oauth2.Token, error) {
	return &oauth2.Token{AccessToken: n.token}, nil
}

// nonsenseRequestOptions returns invalid request options for each kind of call.
func nonsenseRequestOptions() (cases []*nonsense) {
	for _, o := range []struct {
		name   string
		option RequestOption
		fine   bool
	}{
		{"nil", nil, true}, {"Progress(nil)", Progress(nil), true}, {"Into(nil)", Into(nil), true}, {"DryRun(nil)", DryRun(nil), false},
		{"Ahead(-1)", Ahead(-1), false}, {"PerPage(-1)", PerPage(-1), false}, {"StartAt(garbage)", StartAt("garbage"), false},
		{"MaxBytes(-1)", MaxBytes(-1), false}, {"HeaderTimeout(-1)", HeaderTimeout(-1), false}, {"Sudo(-1)", Sudo(-1), false},
		{"Header of nothing", Header("", ""), false}, {"Header with a line break", Header("X-A", "a\r\nb"), false}, {"Query of nothing", Query("", ""), false},
		{"Checksum of nothing", Checksum("", ""), false}, {"Checksum that is no hex", Checksum(ChecksumSHA256, "no hex"), false},
		{"Retry with negative limits", Retry(RetryPolicy{MaxAttempts: -1, MinWait: -1, MaxWait: -1, MaxRetryAfter: -1}), true},
	} {
		for kind, call := range map[string]func(context.Context, *callersStage) error{
			"get": func(ctx context.Context, s *callersStage) error {
				_, err := s.client.Users.GetCurrent(ctx, nil, o.option)
				return err
			},
			"list":     callList(listRowCall, o.option),
			"ahead":    callList(listRowCall, Ahead(4), o.option),
			"exec":     func(ctx context.Context, s *callersStage) error { return s.client.Emails.Delete(ctx, 5, o.option) },
			"upload":   callUpload(func(*callersStage) File { return FileBytes(uploadContent) }, o.option),
			"download": callDownload(o.option),
		} {
			cases = append(cases, &nonsense{name: o.name + ", " + kind, call: call, fine: o.fine, unsent: !o.fine})
		}
	}
	nowhere := func(_ context.Context, s *callersStage) error {
		var none context.Context
		_, err := s.client.Users.GetCurrent(none, nil)
		return err
	}
	return append(cases, &nonsense{name: "nil context", call: nowhere, unsent: true},
		&nonsense{name: "nil context of a list", unsent: true, call: func(_ context.Context, s *callersStage) error {
			var none context.Context
			return callList(listRowCall, Ahead(2))(none, s)
		}})
}

// nonsenseFiles returns files that cannot be uploaded.
func nonsenseFiles() []*nonsense {
	upload := func(file File) func(context.Context, *callersStage) error {
		return callUpload(func(*callersStage) File { return file })
	}
	opens := func(r io.ReadCloser, err error) File {
		return File{Name: "f", Size: 3, Open: func() (io.ReadCloser, error) { return r, err }}
	}
	read := func(n int, err error) File {
		return FileReader(oddReader(func([]byte) (int, error) { return n, err }), 3).Named("f")
	}
	var noReader *bytes.Reader
	var noFile *os.File
	dir := os.TempDir()
	return []*nonsense{
		{name: "the zero file", call: upload(File{}), unsent: true},
		{name: "a file without Open", call: upload(File{Name: "f", Size: 3}), unsent: true},
		{name: "a file of negative size", call: upload(File{Name: "f", Size: -1, Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(nil)), nil }}), unsent: true},
		{name: "FileReader(nil)", call: upload(FileReader(nil, 3).Named("f")), unsent: true},
		{name: "FileReader, a nil pointer", call: upload(FileReader(noReader, 3).Named("f")), own: true},
		{name: "FileReader of negative size", call: upload(FileReader(bytes.NewReader([]byte("abc")), -1).Named("f")), unsent: true},
		{name: "FileReader with too little", call: upload(FileReader(bytes.NewReader([]byte("ab")), 3).Named("f"))},
		{name: "FileReader with too much", call: upload(FileReader(bytes.NewReader([]byte("abcd")), 3).Named("f"))},
		{name: "FileAt nothing", call: upload(FileAt("")), unsent: true},
		{name: "FileAt what is not there", call: upload(FileAt(filepath.Join(dir, "not", "there"))), unsent: true},
		{name: "FileAt a directory", call: upload(FileAt(dir)), unsent: true},
		{name: "FileAt a device", call: upload(FileAt("/dev/zero")), unsent: true},
		{name: "Open returns nothing", call: upload(opens(nil, nil))},
		{name: "Open returns a nil pointer", call: upload(opens(noFile, nil)), own: true},
		{name: "Open returns an error", call: upload(opens(nil, errCallersOwn)), is: errCallersOwn},
		{name: "a reader that reads nothing for ever", call: upload(read(0, nil)), endless: true, is: context.Canceled},
		{name: "a reader that reads more than fits", call: upload(read(1<<40, nil)), own: true},
		{name: "a reader that reads less than nothing", call: upload(read(-1, nil)), own: true},
		{name: "a reader's error", call: upload(read(0, errCallersOwn)), is: errCallersOwn},
	}
}

type oddReader func(p []byte) (int, error)

func (f oddReader) Read(p []byte) (int, error) { return f(p) }
