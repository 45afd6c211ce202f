package forge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// streamed is an endpoint that serves a file.
type streamed struct {
	method string // of the service
	html   bool   // the file may be an HTML page
	open   func(context.Context, *Client, ...RequestOption) (*Download, error)
}

var streamedFiles = []streamed{
	{"RepositoriesService.Archive", false, func(ctx context.Context, c *Client, opts ...RequestOption) (*Download, error) {
		return c.Repositories.Archive(ctx, ID(1), &ArchiveOptions{Format: ArchiveFormatTarGz}, opts...)
	}},
	{"RepositoriesService.DownloadBlob", true, func(ctx context.Context, c *Client, opts ...RequestOption) (*Download, error) {
		return c.Repositories.DownloadBlob(ctx, ID(1), "abc", opts...)
	}},
	{"SecureFilesService.Download", false, func(ctx context.Context, c *Client, opts ...RequestOption) (*Download, error) {
		return c.SecureFiles.Download(ctx, ID(1), &SecureFile{ID: 2}, opts...)
	}},
	{"PlaceholderReassignmentsService.Download", false, func(ctx context.Context, c *Client, opts ...RequestOption) (*Download, error) {
		return c.PlaceholderReassignments.Download(ctx, ID(1), opts...)
	}},
}

// streamedResponse is a response of an endpoint for files.
type streamedResponse struct {
	name    string
	status  int
	headers []string // names and values; a value of "" removes what net/http adds, and \n separates values
	body    string
	served  bool   // the response is the file
	page    bool   // the response is an HTML page, which may be the file
	says    string // text in the error
}

func streamedResponses() []streamedResponse {
	const binary = "application/octet-stream"
	responses := []streamedResponse{
		{"a file", 200, []string{"Content-Type", binary}, "content", true, false, ""},
		{"a file without a type", 200, []string{"Content-Type", ""}, "content", true, false, ""},
		{"a file in identity", 200, []string{"Content-Type", binary, "Content-Encoding", "identity,Identity"}, "content", true, false, ""},
		{"an empty file", 200, []string{"Content-Type", binary, "Content-Length", "0"}, "", true, false, ""},
		{"an empty file in chunks", 200, []string{"Content-Type", binary, "Transfer-Encoding", "chunked"}, "", true, false, ""},
		{"a page", 200, []string{"Content-Type", "text/html; charset=utf-8"}, "<html>Sign in</html>", false, true, "HTML"},
		{"a page in capitals", 200, []string{"Content-Type", "Text/HTML"}, "<html>Sign in</html>", false, true, "HTML"},
		{"a page in gzip", 200, []string{"Content-Type", "text/html", "Content-Encoding", "gzip"}, squeezed("<html>"), false, false, ""},
	}
	for _, coding := range []string{"gzip", "br", "zstd", "deflate", "compress", "gzip, br", "GZIP", "x-other", "gzip\ngzip", "identity\ngzip", " \nbr", "identity, gzip"} {
		responses = append(responses, streamedResponse{coding, 200, []string{
			"Content-Type", binary, "Content-Encoding", coding,
		}, squeezed("content"), false, false, strings.TrimSpace(strings.ReplaceAll(coding, "\n", ", "))})
	}
	for _, status := range []int{201, 202, 203, 204, 205, 206, 207, 226, 299} {
		headers, body := []string{"Content-Type", binary}, "content"
		switch status {
		case 202:
			headers, body = []string{"Content-Type", "application/json"}, `{"message":"being made"}`
		case 204:
			body = ""
		case 206:
			headers = append(headers, "Content-Range", "bytes 0-6/1000000")
		}
		responses = append(responses, streamedResponse{
			fmt.Sprint("status ", status), status, headers, body, false, false, fmt.Sprint(status),
		})
	}
	return responses
}

func (r streamedResponse) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	for i := 0; i < len(r.headers); i += 2 {
		w.Header()[r.headers[i]] = strings.Split(r.headers[i+1], "\n")
		if r.headers[i+1] == "" {
			w.Header()[r.headers[i]] = nil
		}
	}
	w.WriteHeader(r.status)
	_, _ = io.WriteString(w, r.body)
}

// If a server does not respond with a file, a download fails with ErrInvalidResponse before a file
// is created: for another status, a page, or an encoding that was not requested, directly and after
// a redirect. A file is returned byte for byte.
func TestDownloadRefusals(t *testing.T) {
	const home, away = "https://a.example.com", "https://b.example.com"
	for route, location := range map[string]string{"directly": "", "after a redirect": home + "/file", "after a redirect to another origin": away + "/file"} {
		for _, endpoint := range streamedFiles {
			t.Run(endpoint.method+" "+route, func(t *testing.T) {
				t.Parallel()
				w, current := newWorld(t), streamedResponse{}
				w.host(home, func(rw http.ResponseWriter, r *http.Request) {
					if location != "" && r.URL.Path != "/file" {
						redirectTo(http.StatusFound, location)(rw, r)
						return
					}
					current.ServeHTTP(rw, r)
				})
				w.host(away, func(rw http.ResponseWriter, r *http.Request) { current.ServeHTTP(rw, r) })
				c := w.client(home)
				for _, current = range streamedResponses() {
					served := current.served || current.page && endpoint.html && location == ""
					checkStreamed(t, c, endpoint, current, served)
				}
			})
		}
	}
}

func checkStreamed(t *testing.T, c *Client, endpoint streamed, r streamedResponse, served bool) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	d, err := endpoint.open(t.Context(), c)
	if err == nil {
		err = d.SaveTo(path)
		_ = d.Close()
	}
	if served {
		if assert.NoError(t, err, r.name) {
			content, err := os.ReadFile(path)
			assert.NoError(t, err, r.name)
			assert.Equal(t, r.body, string(content), r.name)
		}
		return
	}
	entries, readErr := os.ReadDir(dir)
	require.NoError(t, readErr)
	var e *Error
	if !assert.Empty(t, entries, "%s: a file was created", r.name) || !assert.ErrorAs(t, err, &e, r.name) {
		return
	}
	assert.ErrorIs(t, err, ErrInvalidResponse, r.name)
	assert.Nil(t, d, "%s: refused after it was opened", r.name)
	assert.Equal(t, r.status, e.Status, r.name)
	assert.Equal(t, 1, e.Attempts, r.name)
	assert.Contains(t, strings.ToLower(err.Error()), strings.ToLower(r.says), r.name)
}

// The same rules apply to rows that are read from a file.
func TestRowsRefused(t *testing.T) {
	for _, r := range streamedResponses() {
		if r.served {
			continue
		}
		w := newWorld(t)
		w.host("https://a.example.com", r.ServeHTTP)
		rows, err := Collect(w.client("https://a.example.com").PlaceholderReassignments.List(t.Context(), ID(1)))
		assert.ErrorIs(t, err, ErrInvalidResponse, r.name)
		assert.Empty(t, rows, r.name)
	}
}

// Every method that returns a stream is in the table.
func TestStreamedFilesAreComplete(t *testing.T) {
	for field := range reflect.TypeFor[Client]().Fields() {
		for method := range field.Type.Methods() {
			if method.Type.NumOut() == 0 || method.Type.Out(0) != reflect.TypeFor[*Download]() {
				continue
			}
			name := field.Type.Elem().Name() + "." + method.Name
			assert.True(t, slices.ContainsFunc(streamedFiles, func(s streamed) bool { return s.method == name }), name)
		}
	}
}

// An HTML page is refused by every kind of call, however its Content-Type is written: missing,
// empty, twice, joined with others. A file is returned byte for byte, however short it is.
func TestPagesRefused(t *testing.T) {
	pages := []string{"<!DOCTYPE html><title>Sign in</title>", "<html>", " \r\n\t<HTML lang=en>" + strings.Repeat("x", 2000), "\ufeff<!doctype HTML>", "<!-- proxy --><html>", strings.Repeat(" ", 500) + "<html>"}
	files := []string{"", "a", "<", "<x>", "<htmlx", "plain text", "\ufeff", "\x1f\x8b\x00", strings.Repeat("<", 600), strings.Repeat(" ", 600) + "<html>", `{"id":1}`, "[]", "\ufeff" + strings.Repeat(" ", 504) + "<html>"}
	types := [][]string{nil, {""}, {";"}, {" ; charset=utf-8"}, {"text/html"}, {"", "text/html"}, {"text/html", ""}, {"application/json", "text/html"}, {"TEXT/html; charset=utf-8", "application/json"},
		{"application/json, text/html"}, {"text/html,application/json"}, {"application/xhtml+xml"}, {"application/json; a=b, text/html;charset=utf-8"}}
	var body string
	var media []string
	w := newWorld(t)
	w.host("https://a.example.com", func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header()["Content-Type"] = media
		_, _ = io.WriteString(rw, body)
	})
	c := w.client("https://a.example.com")
	save := func(call Call) (string, error) {
		d, err := c.Open(t.Context(), call)
		if err != nil {
			return "", err
		}
		path := filepath.Join(t.TempDir(), "file")
		if err := d.SaveTo(path); err != nil {
			return "", err
		}
		content, err := os.ReadFile(path)
		return string(content), err
	}
	for _, media = range types {
		for _, body = range pages {
			_, opened := save(classRoutes[RetryClassSafe])
			_, openedWrite := save(classRoutes[RetryClassNonIdempotent])
			_, archived := openArchive(t.Context(), c)
			_, method := c.Issues.Subscribe(t.Context(), ID(1), 2)
			_, listed := Collect(c.Issues.List(t.Context(), nil))
			for name, err := range map[string]error{
				"Open": opened, "Open of a write": openedWrite, "Archive": archived, "Subscribe": method, "List": listed,
				"Do": c.Do(t.Context(), classRoutes[RetryClassNonIdempotent], new(any)), "Do without a value": c.Do(t.Context(), classRoutes[RetryClassNonIdempotent], nil),
				"Delete": c.Registry.DeleteTag(t.Context(), ID(1), 2, "v1"),
			} {
				if !assert.ErrorIs(t, err, ErrInvalidResponse, "%s: %q %q", name, media, body) {
					continue
				}
				wanted := map[bool]string{true: "the file", false: "JSON"}[strings.HasPrefix(name, "Open") || name == "Archive"]
				assert.ErrorContains(t, err, "an HTML page instead of "+wanted+", perhaps", "%s: %q", name, media)
				assert.Equal(t, name != "Open" && name != "Archive" && name != "List", asError(t, err).MaybeApplied, name)
			}
		}
	}
	for _, media = range [][]string{nil, {""}, {"; charset=utf-8"}, {"application/octet-stream"}, {"text/plain", "text/plain"}, {"application/x-tar, application/gzip"}} {
		for _, body = range files {
			content, err := save(classRoutes[RetryClassSafe])
			assert.NoError(t, err, "%q %q", media, body)
			assert.Equal(t, body, content, "%q", media)
			if contentType(http.Header{"Content-Type": media}) == "" {
				assert.NoError(t, c.Do(t.Context(), classRoutes[RetryClassNonIdempotent], nil), "%q", body)
			}
		}
	}
	for _, media = range [][]string{nil, {""}, {"; charset=utf-8"}, {"application/json", "application/json"}, {"application/json, application/json"}, {"", "application/json; charset=utf-8"}, {`application/json; profile="a,b"`}} {
		body = `{"id":1}`
		assert.NoError(t, c.Do(t.Context(), classRoutes[RetryClassNonIdempotent], new(map[string]any)), "%q", media)
	}
}

// A page without a type is recognized as soon as its tag has arrived, however it arrives, and another
// file by its first byte.
func TestPageInPieces(t *testing.T) {
	for _, parts := range [][2]string{{"", "\n<!doctype html>"}, {"\ufeff", "<!doctype html>"}, {"", "a"}} {
		more := readFunc(func([]byte) (int, error) { t.Error("the call waits for more"); return 0, io.EOF })
		c := bubbleClient(t, through(func(req *http.Request) (*http.Response, error) {
			body := io.MultiReader(strings.NewReader(parts[0]), iotest.OneByteReader(strings.NewReader(parts[1])), more)
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(body), Request: req}, nil
		}))
		d, err := openArchive(t.Context(), c)
		assert.Equal(t, parts[1] != "a", errors.Is(err, ErrInvalidResponse), "%q: %v", parts, err)
		if d != nil {
			_ = d.Close()
		}
	}
}
