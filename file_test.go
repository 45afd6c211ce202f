package forge

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// uploadServer responds to the first uploads with the given status and stores all bodies.
type uploadServer struct {
	*httptest.Server
	fail, status int
	early        bool // it refuses all uploads without reading them

	mu      sync.Mutex
	bodies  [][]byte
	lengths []int64
	types   []string
}

func newUploadServer(t *testing.T, fail, status int) *uploadServer {
	t.Helper()
	s := &uploadServer{fail: fail, status: status}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *uploadServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.early {
		if r.ProtoMajor == 1 { // over HTTP/1 the server would wait for the body
			conn, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_, _ = io.WriteString(conn, "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
				_, _ = io.Copy(io.Discard, conn)
				_ = conn.Close()
			}
			return
		}
		w.WriteHeader(http.StatusForbidden)
		return
	}
	body, err := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		return
	}
	s.bodies, s.lengths, s.types = append(s.bodies, body), append(s.lengths, r.ContentLength), append(s.types, r.Header.Get("Content-Type"))
	if len(s.bodies) <= s.fail {
		w.WriteHeader(s.status)
	}
}

func (s *uploadServer) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.bodies)
}

// sendFile uploads to a route that may be retried, so that retries can be tested.
func sendFile(t *testing.T, client *Client, file File, opts ...RequestOption) error {
	t.Helper()
	r := service{client.core}.newRequest(http.MethodPut, "/files/:id", []any{ID(1)}).upload(url.Values{"name": {"n é \"x\""}, "b": {""}}, "file", file)
	return exec(t.Context(), r, opts)
}

var quickRetry = RetryPolicy{MaxAttempts: 4, MinWait: time.Millisecond, MaxWait: time.Millisecond}

// A multipart body has an exact length, and a retry sends the same bytes.
func TestUpload(t *testing.T) {
	content := bytes.Repeat([]byte("0123456789\x00\r\n--"), 50_000)
	path := filepath.Join(t.TempDir(), "report é \"1\".bin")
	require.NoError(t, os.WriteFile(path, content, 0o600))
	for name, test := range map[string]struct {
		file     File
		fileName string
		content  []byte
	}{
		"FileAt":     {FileAt(path), filepath.Base(path), content},
		"FileBytes":  {FileBytes(content), "file", content},
		"Named":      {FileBytes(content).Named("a\\b;c.txt"), "a\\b;c.txt", content},
		"empty":      {FileBytes(nil), "file", nil},
		"FileReader": {FileReader(bytes.NewReader(content), int64(len(content))), "file", content},
	} {
		t.Run(name, func(t *testing.T) {
			fail := 2
			if test.file.once {
				fail = 0
			}
			srv := newUploadServer(t, fail, http.StatusServiceUnavailable)
			require.NoError(t, sendFile(t, onceClient(t, srv.URL, WithRetry(quickRetry)), test.file))
			require.Len(t, srv.bodies, fail+1)
			for i, body := range srv.bodies {
				assert.EqualValues(t, len(body), srv.lengths[i], "the request had no Content-Length")
				assert.True(t, bytes.Equal(srv.bodies[0], body), "attempt %d sent other bytes", i+1)
				assert.Equal(t, srv.types[0], srv.types[i])
			}
			_, params, err := mime.ParseMediaType(srv.types[0])
			require.NoError(t, err)
			assert.True(t, bytes.HasSuffix(srv.bodies[0], []byte("\r\n--"+params["boundary"]+"--\r\n")), "nothing follows the last boundary")
			reader := multipart.NewReader(bytes.NewReader(srv.bodies[0]), params["boundary"])
			form, err := reader.ReadForm(1 << 20)
			require.NoError(t, err)
			defer form.RemoveAll()
			assert.Equal(t, map[string][]string{"name": {"n é \"x\""}, "b": {""}}, form.Value)
			require.Len(t, form.File["file"], 1)
			_, params, err = mime.ParseMediaType(form.File["file"][0].Header.Get("Content-Disposition"))
			require.NoError(t, err)
			assert.Equal(t, test.fileName, params["filename"])
			part, err := form.File["file"][0].Open()
			require.NoError(t, err)
			defer part.Close()
			got, err := io.ReadAll(part)
			require.NoError(t, err)
			assert.Equal(t, sha256.Sum256(test.content), sha256.Sum256(got))
		})
	}
}

type readCloser struct {
	io.Reader
	close func()
}

func (r readCloser) Close() error {
	r.close()
	return nil
}

// A body that cannot be read again is sent only once.
func TestUploadFromReaderIsSentOnce(t *testing.T) {
	for _, status := range []int{http.StatusServiceUnavailable, http.StatusTooManyRequests, http.StatusUnauthorized} {
		srv := newUploadServer(t, 9, status)
		err := sendFile(t, onceClient(t, srv.URL, WithRetry(quickRetry)), FileReader(strings.NewReader("abc"), 3))
		require.Error(t, err)
		assert.Equal(t, 1, srv.count())
		var failed *Error
		require.ErrorAs(t, err, &failed)
		assert.Equal(t, status, failed.Status)
	}
	file := FileReader(strings.NewReader("abc"), 3)
	srv := newUploadServer(t, 0, 0)
	client := onceClient(t, srv.URL)
	require.NoError(t, sendFile(t, client, file))
	require.ErrorIs(t, sendFile(t, client, file), errReadOnce)
	assert.Equal(t, 1, srv.count())
}

// sizedEntries are the ways to send content whose length the caller states.
func sizedEntries(t *testing.T, c *Client) map[string]func(content []byte, stated int64) error {
	file := func(of func(content []byte, stated int64) File) func([]byte, int64) error {
		return func(content []byte, stated int64) error { return sendFile(t, c, of(content, stated)) }
	}
	path := filepath.Join(t.TempDir(), "x")
	entries := map[string]func([]byte, int64) error{
		"FileReader": file(func(content []byte, stated int64) File { return FileReader(bytes.NewReader(content), stated) }),
		"slow reader": file(func(content []byte, stated int64) File {
			return FileReader(iotest.HalfReader(bytes.NewReader(content)), stated)
		}),
		"Open": file(func(content []byte, stated int64) File {
			f := FileBytes(content)
			f.Size = stated
			return f
		}),
		"FileAt": file(func(content []byte, stated int64) File {
			require.NoError(t, os.WriteFile(path, make([]byte, stated), 0o600))
			f := FileAt(path)
			require.NoError(t, os.WriteFile(path, content, 0o600))
			return f
		}),
		"Multipart": func(content []byte, stated int64) error {
			form := &Multipart{File: FileReader(iotest.DataErrReader(bytes.NewReader(content)), stated)}
			return c.Do(t.Context(), Call{Method: http.MethodPost, Route: "/things", Multipart: form}, nil)
		},
	}
	for name, body := range map[string]func([]byte) io.Reader{
		"Request":           func(content []byte) io.Reader { return bytes.NewReader(content) }, // with GetBody
		"Request, once":     func(content []byte) io.Reader { return plain{bytes.NewReader(content)} },
		"Request, in parts": func(content []byte) io.Reader { return iotest.HalfReader(bytes.NewReader(content)) },
		"Request, EOF":      func(content []byte) io.Reader { return iotest.DataErrReader(bytes.NewReader(content)) },
		"Request, nil":      func([]byte) io.Reader { return nil },
	} {
		entries[name] = func(content []byte, stated int64) error {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, c.BaseURL()+"/things", body(content))
			require.NoError(t, err)
			if req.ContentLength = stated; req.Body == http.NoBody {
				req.Body = io.NopCloser(plain{bytes.NewReader(nil)})
			}
			resp, err := c.HTTPClient().Do(req)
			if err == nil {
				err = resp.Body.Close()
			}
			return err
		}
	}
	return entries
}

// Content that does not have the length that its caller states is an error of the call, which is
// sent once, and so is content that ends in an error. The server never receives a complete request.
func TestStatedLengths(t *testing.T) {
	overBoth(t, func(t *testing.T, c *Client, s *uploadServer) {
		for name, send := range sizedEntries(t, c) {
			request := strings.HasPrefix(name, "Request")
			for _, stated := range []int64{0, 1, 5000, 100_000} {
				for _, size := range []int64{0, 1, stated - 1, stated, stated + 1, 2*stated + 70_000} {
					if size < 0 || request && stated == 0 { // net/http: the length is not known
						continue
					}
					if name == "Request, nil" {
						size = 0
					}
					label := fmt.Sprintf("%s: %d bytes, stated %d", name, size, stated)
					before, attempts := s.count(), c.Stats().Attempts
					err := send(make([]byte, size), stated)
					if size == stated {
						require.NoError(t, err, label)
						assert.Equal(t, before+1, s.count(), label)
						continue
					}
					require.Error(t, err, label)
					assert.Equal(t, before, s.count(), label)
					assert.LessOrEqual(t, c.Stats().Attempts-attempts, int64(1), label)
					if name == "Request, nil" {
						continue
					}
					require.ErrorContains(t, err, map[bool]string{true: "the body", false: "the file"}[request]+" is "+map[bool]string{true: "longer", false: fmt.Sprintf("%d bytes shorter", stated-size)}[size > stated]+" than its ", label)
					assert.Equal(t, size < stated, errors.Is(err, io.ErrUnexpectedEOF), label)
				}
			}
		}
		broken := errors.New("the disk is broken")
		for range 20 { // over HTTP/1 the response and the error race
			content := func() io.Reader { return io.MultiReader(strings.NewReader("content"), iotest.ErrReader(broken)) }
			require.ErrorIs(t, sendFile(t, c, FileReader(content(), 7)), broken)
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, c.BaseURL()+"/things", content())
			require.NoError(t, err)
			req.ContentLength = 7
			resp, err := c.HTTPClient().Do(req)
			if err == nil {
				_ = resp.Body.Close()
			}
			require.ErrorIs(t, err, broken)
		}
	})
}

func TestUploadRefused(t *testing.T) {
	client := silentServer(t)
	dir := t.TempDir()
	for name, file := range map[string]File{
		"zero": {}, "missing": FileAt(filepath.Join(dir, "missing")), "directory": FileAt(dir), "no name": FileBytes(nil).Named(""),
		"control byte": FileBytes(nil).Named("a\r\nX: y"), "negative": FileReader(strings.NewReader(""), -1), "empty path": FileAt(""), "nil reader": FileReader(nil, 1),
	} {
		if file.err != nil {
			_, err := file.Open()
			require.ErrorIs(t, err, file.err, name)
		}
		err := sendFile(t, client, file)
		refused(t, err, "File", "file")
		assert.NotContains(t, err.Error(), "\n", name)
	}
}

// modeOf returns the mode of a file; for a link, the mode of the link.
func modeOf(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	require.NoError(t, err)
	return info.Mode()
}

// Callers join the suggested name to a path, so it must not lead out of that directory.
func TestFileNames(t *testing.T) {
	for disposition, want := range map[string]string{
		"": "", "attachment": "", "garbage;;;": "", `attachment; filename=`: "",
		`attachment; filename="a.zip"`: "a.zip", `attachment; filename=a.zip`: "a.zip", `inline; filename="a b.zip"`: "a b.zip", `attachment; filename="a\"b.zip"`: `a_b.zip`,
		`attachment; filename*=UTF-8''%C3%BC.zip`: "ü.zip", `attachment; filename="x"; filename*=UTF-8''y`: "y",
		`attachment; filename="../../etc/passwd"`: "passwd", `attachment; filename="/etc/passwd"`: "passwd", `attachment; filename="..\\..\\boot.ini"`: "boot.ini",
		`attachment; filename*=UTF-8''..%2f..%2fetc%2fpasswd`: "passwd", `attachment; filename=".."`: "", `attachment; filename="."`: "", `attachment; filename="a/"`: "", `attachment; filename="../"`: "",
		`attachment; filename="a/.."`: "", `attachment; filename*=UTF-8''..%00`: "", `attachment; filename*=UTF-8''a%00b`: "ab", `attachment; filename*=UTF-8''a%0d%0ab`: "a  b",
		`attachment; filename*=UTF-8''%e2%80%aegpj.exe`: "gpj.exe", `attachment; filename=" .. "`: "", `attachment; filename="` + strings.Repeat("a", 300) + `"`: "",
		`attachment; filename="` + strings.Repeat("a", 255) + `"`: strings.Repeat("a", 255), `attachment; filename="` + strings.Repeat("a", 256) + `"`: "",
		`attachment; filename*=UTF-8''%ff%fe`: "", `attachment; filename=".bashrc"`: "bashrc",
		// Names that a shell, a program or Windows would not treat as the name of a file.
		`attachment; filename="-rf"`: "rf", `attachment; filename="--.- .-x"`: "x", `attachment; filename="..."`: "", `attachment; filename="-"`: "", `attachment; filename=". -a-.b"`: "a-.b",
		`attachment; filename="a."`: "a", `attachment; filename="a.zip . ."`: "a.zip", `attachment; filename*=UTF-8''%c2%a0.a%c2%a0`: "a",
		`attachment; filename="C:evil.exe"`: "C_evil.exe", `attachment; filename="a.txt:stream"`: "a.txt_stream", `attachment; filename="a<b>c|d?e*f"`: "a_b_c_d_e_f",
		`attachment; filename="CON"`: "", `attachment; filename="nul.tar.gz"`: "", `attachment; filename="Aux .zip"`: "", `attachment; filename="prn."`: "", `attachment; filename=".con"`: "",
		`attachment; filename="com1"`: "", `attachment; filename="LPT0.txt"`: "", `attachment; filename*=UTF-8''COM%c2%b9.zip`: "", `attachment; filename="CONIN$"`: "", `attachment; filename="conout$.x"`: "",
		`attachment; filename="COM10.zip"`: "COM10.zip", `attachment; filename="1.zip"`: "1.zip", `attachment; filename="console"`: "console", `attachment; filename="COM.zip"`: "COM.zip", `attachment; filename="nul-1.zip"`: "nul-1.zip",
		`attachment; filename="archive-main-1a2b.tar.gz"`: "archive-main-1a2b.tar.gz",
	} {
		assert.Equal(t, want, fileName(http.Header{"Content-Disposition": {disposition}}), disposition)
	}
}

// A nil reader, or a function that returns one, is refused before anything is sent or fails the
// call. It never ends the process.
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

// Errors of local files name the failed operation, and match the errors of package fs.
func TestLocalFileErrors(t *testing.T) {
	client := silentServer(t)
	dir := t.TempDir()
	require.ErrorIs(t, sendFile(t, client, FileAt(filepath.Join(dir, "missing"))), fs.ErrNotExist)
	assert.EqualError(t, FileAt("").check(), "the path is empty")
	for path, advice := range map[string]string{"~/x": ": only shells replace ~: use os.UserHomeDir", "missing": ""} {
		_, missing := os.Stat(path)
		assert.EqualError(t, FileAt(path).check(), missing.Error()+advice)
	}
	path := filepath.Join(dir, "soon gone")
	require.NoError(t, os.WriteFile(path, []byte("content"), 0o600))
	file := FileAt(path)
	require.NoError(t, os.Remove(path))
	err := sendFile(t, client, file)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, "the body cannot be opened")
	require.NotErrorIs(t, err, ErrInvalidResponse)
	assert.Equal(t, 1, asError(t, err).Attempts)
	assert.False(t, asError(t, err).MaybeApplied)

}

// FuzzFileName checks that a suggested name stays in the directory to which it is joined.
func FuzzFileName(f *testing.F) {
	for _, s := range []string{`attachment; filename="a.zip"`, `attachment; filename*=UTF-8''..%2f..%2fpasswd`, `attachment; filename=".."`, `attachment; filename="a\\..\\b"`, `inline`, `a; filename="\\"`, `a; filename=".-con.txt"`, `a; filename="-a:. "`, `a; filename="/a"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, disposition string) {
		name := fileName(http.Header{"Content-Disposition": {disposition}})
		if name == "" {
			return
		}
		require.Equal(t, "/dir/"+name, filepath.Join("/dir", name))
		require.Equal(t, "/dir", filepath.Dir(filepath.Join("/dir", name)))
		require.True(t, utf8.ValidString(name))
		require.False(t, hasControl(name))
		require.LessOrEqual(t, len(name), maxFileName)
		require.NotContains(t, ".- ", name[:1])
		require.NotContains(t, ". ", name[len(name)-1:])
		require.False(t, strings.ContainsAny(name, `<>:"|?*`))
		require.False(t, isReservedName(name))
	})
}

// fullOnClose is content whose Close fails.
type fullOnClose struct{ io.Reader }

func (fullOnClose) Close() error { return errors.New("full") }

// Content of another length, and a reader that breaks the rules of io.Reader, end in one error, with
// none of the bytes that would complete the request.
func TestExactReader(t *testing.T) {
	reader := func(n int, err error) io.Reader { return readFunc(func([]byte) (int, error) { return n, err }) }
	const file, set = "the file is ", ": set it to the number of bytes"
	for _, row := range []struct {
		content io.Reader
		size    int64
		want    string // the error
		buffer  int    // 0: 8 bytes
	}{
		{strings.NewReader("abc"), 3, "EOF", 0}, {strings.NewReader(""), 0, "EOF", 0}, {strings.NewReader("abc"), 3, "EOF", 3},
		{strings.NewReader("abcd"), 3, file + "longer than its Size" + set, 0}, {strings.NewReader("a"), 0, file + "longer than its Size" + set, 0}, {strings.NewReader("abcdefghi"), 3, file + "longer than its Size" + set, 0},
		{strings.NewReader("abcd"), 3, file + "longer than its Size" + set, 3}, // the byte too many is behind a full buffer
		{strings.NewReader(""), 3, file + "3 bytes shorter than its Size" + set, 0},
		{reader(9, nil), 0, "the file cannot be read: Read returned 9 for 8 bytes", 0}, {reader(-1, nil), 0, "the file cannot be read: Read returned -1 for 8 bytes", 0}, {reader(0, nil), 0, "the file cannot be read: " + io.ErrNoProgress.Error(), 0},
		{reader(0, errors.New("broken")), 3, "the file cannot be read: broken", 0},
	} {
		r := &exactReader{content: io.NopCloser(row.content), left: row.size}
		p := make([]byte, cmp.Or(row.buffer, 8))
		n, err := r.Read(p)
		if row.want == "EOF" {
			assert.EqualValues(t, row.size, n)
		} else {
			assert.Zero(t, n, row.want)
		}
		if err == nil {
			_, err = r.Read(p)
		}
		require.EqualError(t, err, row.want)
		_, err = r.Read(p)
		require.EqualError(t, err, row.want, "again")
	}
	r := &exactReader{content: io.NopCloser(strings.NewReader("a")), left: 3, body: true}
	_, err := io.ReadAll(r)
	require.EqualError(t, err, "the body is 2 bytes shorter than its ContentLength"+set)
	for want, content := range map[string]io.Reader{"the file cannot be closed: full": strings.NewReader("a"), "the file cannot be read: broken": reader(0, errors.New("broken"))} {
		_, err = io.ReadAll(&exactReader{content: fullOnClose{content}, left: 1})
		require.EqualError(t, err, want)
	}
	for name, want := range map[string]string{"": "", "a": "a.csv", "a.csv": "a.csv"} {
		assert.Equal(t, want, File{Name: name}.ending(".csv").Name)
	}
}
