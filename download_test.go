package forge

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// openContent opens a download of the content, from a server.
func openContent(t *testing.T, content string, opts ...RequestOption) *Download {
	t.Helper()
	d, err := openArchive(t.Context(), wireClient(t, newWire(t, always(say(200, content))).url), opts...)
	require.NoError(t, err)
	return d
}

// openSecure opens a download of a secure file.
func openSecure(t *testing.T, content string) *Download {
	t.Helper()
	d, err := wireClient(t, newWire(t, always(say(200, content))).url).SecureFiles.Download(t.Context(), ID(1), &SecureFile{ID: 1})
	require.NoError(t, err)
	return d
}

// dirNames lists a directory.
func dirNames(t *testing.T, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// assertSaveError checks the common form of all errors of SaveTo, and that no file is left.
func assertSaveError(t *testing.T, err error, path string) {
	t.Helper()
	require.Error(t, err)
	assert.True(t, strings.HasPrefix(err.Error(), "forge: saving "+path+": "), err.Error())
	if info, statErr := os.Stat(filepath.Dir(path)); statErr == nil && info.IsDir() {
		for _, name := range dirNames(t, filepath.Dir(path)) {
			assert.NotContains(t, name, ".forge-", "the temporary file is left")
		}
	}
}

// Every error of SaveTo has one form, matches its cause, and leaves the old file and no temporary
// one.
func TestSaveToErrors(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "old")
	require.NoError(t, os.WriteFile(old, []byte("old"), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "full"), 0o700))

	for path, is := range map[string]error{
		filepath.Join(dir, "missing", "x"): os.ErrNotExist, filepath.Join(old, "x"): nil, dir: nil, filepath.Join(dir, "full"): nil,
		"": nil, filepath.Join(dir, "missing") + string(filepath.Separator): nil, filepath.Join(dir, "a\x00b"): nil,
		filepath.Join(dir, strings.Repeat("x", 300)): nil,
	} {
		d := openContent(t, "content")
		err := d.SaveTo(path)
		assertSaveError(t, err, path)
		if is != nil {
			require.ErrorIs(t, err, is, path)
		}
		_, err = d.Read(make([]byte, 1))
		require.ErrorContains(t, err, "closed", "it is closed all the same")
	}

	for name, test := range map[string]struct {
		act  act
		opts []RequestOption
		is   error
	}{
		"cut":                        {closing("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\ncontent"), nil, io.ErrUnexpectedEOF},
		"reset":                      {reset("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\ncontent"), nil, nil},
		"too large":                  {say(200, "content"), []RequestOption{MaxBytes(3)}, ErrResponseTooLarge},
		"checksum":                   {say(200, "content"), []RequestOption{Checksum(sumOf("else"))}, ErrChecksum},
		"nothing":                    {say(200, ""), []RequestOption{Checksum(sumOf("content"))}, ErrChecksum},
		"too large without a length": {closing("HTTP/1.1 200 OK\r\n\r\ncontent"), []RequestOption{MaxBytes(4)}, ErrResponseTooLarge},
	} {
		d, err := openArchive(t.Context(), wireClient(t, newWire(t, always(test.act)).url), test.opts...)
		if err != nil { // the reset has arrived first
			continue
		}
		err = d.SaveTo(old)
		assertSaveError(t, err, old)
		assert.Contains(t, err.Error(), old+": forge: GET "+archiveRoute, name)
		assert.Equal(t, archiveRoute, asError(t, err).Route, name)
		if test.is != nil {
			require.ErrorIs(t, err, test.is, name)
		}
	}
	missing := filepath.Join(dir, "missing", "x")
	for op, want := range map[string]string{"open": "; the directory " + filepath.Dir(missing) + " does not exist: create it first", "rename": ""} {
		assert.Equal(t, want, saveHint(missing, &os.PathError{Op: op, Path: missing, Err: os.ErrNotExist}), op)
	}
	content, err := os.ReadFile(old)
	require.NoError(t, err)
	assert.Equal(t, "old", string(content))
	assert.Equal(t, []string{"full", "old"}, dirNames(t, dir))
}

// Progress reports bytes, and the end. A Read into an empty buffer is none of them.
func TestDownloadProgress(t *testing.T) {
	var reports []int64
	d := openContent(t, "content", Progress(func(done, total int64) {
		assert.EqualValues(t, 7, total)
		reports = append(reports, done)
	}))
	for _, size := range []int{0, 3, 0, 4, 1} {
		_, _ = d.Read(make([]byte, size))
	}
	assert.Equal(t, []int64{3, 7, 7}, reports)
}

// If the context ends at any time, also between the last byte and the rename, SaveTo saves the whole
// file or none, and leaves no other one.
func TestSaveToWhileTheContextEnds(t *testing.T) {
	content := strings.Repeat("x", 150_000)
	w := newWire(t, always(say(200, content)))
	c := wireClient(t, w.url)
	for end, reports := 1, 2; end <= reports; end++ {
		ctx, cancel := context.WithCancel(t.Context())
		reports = 0
		d, err := openArchive(ctx, c, Progress(func(int64, int64) {
			if reports++; reports == end {
				cancel()
			}
		}))
		require.NoError(t, err)
		path := filepath.Join(t.TempDir(), "file")
		err = d.SaveTo(path)
		cancel()
		if err != nil {
			require.ErrorIs(t, err, context.Canceled)
			assert.Empty(t, dirNames(t, filepath.Dir(path)))
			reports = end + 1 // it may need more
			continue
		}
		saved, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, content, string(saved))
		assert.Equal(t, []string{"file"}, dirNames(t, filepath.Dir(path)))
	}
}

func sumOf(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

// HTTP marks the end of a body by a length, by a last chunk or, in HTTP/2, by the end of the stream:
// a download that ends earlier is an error. A body that ends with its connection has no such mark,
// and a download that is truncated there is saved: only a checksum shows it.
func TestTruncationWithoutALength(t *testing.T) {
	const content = "the content"
	for cut := range len(content) {
		w := newWire(t, always(closing("HTTP/1.1 200 OK\r\nContent-Type: a/b\r\n\r\n"+content[:cut])))
		for _, opts := range [][]RequestOption{nil, {Checksum(sumOf(content))}} {
			d, err := openArchive(t.Context(), wireClient(t, w.url), opts...)
			require.NoError(t, err)
			assert.EqualValues(t, -1, d.Size)
			path := filepath.Join(t.TempDir(), "file")
			err = d.SaveTo(path)
			if opts == nil {
				require.NoError(t, err)
				saved, err := os.ReadFile(path)
				require.NoError(t, err)
				assert.Equal(t, content[:cut], string(saved))
				continue
			}
			require.ErrorIs(t, err, ErrChecksum)
			assert.NoFileExists(t, path)
		}
	}
	for name, end := range map[string]func(http.ResponseWriter, *tls.Conn){
		"stream reset":      func(http.ResponseWriter, *tls.Conn) { panic(http.ErrAbortHandler) },
		"connection closed": func(_ http.ResponseWriter, conn *tls.Conn) { _ = conn.Close() },
		"connection lost":   func(_ http.ResponseWriter, conn *tls.Conn) { _ = conn.NetConn().Close() },
	} {
		type connKey struct{}
		received := make(chan struct{})
		srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, content)
			_ = http.NewResponseController(w).Flush()
			<-received
			end(w, r.Context().Value(connKey{}).(*tls.Conn))
			<-r.Context().Done()
		}))
		srv.Config.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, conn)
		}
		srv.Config.ErrorLog = log.New(io.Discard, "", 0)
		srv.EnableHTTP2 = true
		srv.StartTLS()
		transport := srv.Client().Transport.(*http.Transport).Clone()
		d, err := openArchive(t.Context(), wireClient(t, srv.URL, WithHTTPClient(&http.Client{Transport: transport})))
		require.NoError(t, err)
		assert.EqualValues(t, -1, d.Size)
		_, err = io.ReadFull(d, make([]byte, len(content)))
		require.NoError(t, err)
		close(received)
		path := filepath.Join(t.TempDir(), "file")
		require.Error(t, d.SaveTo(path), name)
		assert.NoFileExists(t, path)
		transport.CloseIdleConnections()
		srv.Close()
	}
}

// The option Checksum is checked in addition to the checksum of a secure file: both must match.
func TestChecksumAndSecureFile(t *testing.T) {
	c := wireClient(t, newWire(t, always(say(200, "content"))).url)
	right, wrong := sumOf("content"), sumOf("else")
	for _, test := range []struct {
		own, option string
		is          error
	}{{right, strings.ToUpper(right), nil}, {right, wrong, ErrChecksum}, {wrong, right, ErrChecksum}} {
		file := &SecureFile{ID: 1, Checksum: test.own, ChecksumAlgorithm: "sha256"}
		d, err := c.SecureFiles.Download(t.Context(), ID(1), file, Checksum(test.option))
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, d)
		require.ErrorIs(t, err, test.is)
		require.NoError(t, d.Close())
	}
	d, err := c.SecureFiles.Download(t.Context(), ID(1), &SecureFile{ID: 1, Checksum: strings.Repeat("x", 129), ChecksumAlgorithm: "sha256"})
	require.NoError(t, err)
	defer d.Close()
	_, err = io.Copy(io.Discard, d)
	require.ErrorContains(t, err, "the content's SHA-256 is "+right+" and should be "+strings.Repeat("x", 128)+"...")
}

// An error of closing is that of the body.
func TestDownloadCloseFails(t *testing.T) {
	failed := errors.New("failed")
	c := bubbleClient(t, through(func(req *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: failingClose{http.NoBody, failed}, Request: req}, nil
	}))
	d, err := openArchive(t.Context(), c)
	require.NoError(t, err)
	require.ErrorIs(t, d.Close(), failed)
	require.NoError(t, d.Close(), "it is closed")
}

type failingClose struct {
	io.Reader
	err error
}

func (f failingClose) Close() error { return f.err }

// The last bytes of a download are part of its checksum if they come together with its end, too.
func TestChecksumOfBytesWithTheEnd(t *testing.T) {
	const content = "content"
	c := bubbleClient(t, through(func(req *http.Request) (*http.Response, error) {
		body := io.NopCloser(iotest.DataErrReader(strings.NewReader(content)))
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, ContentLength: -1, Body: body, Request: req}, nil
	}))
	for sum, is := range map[string]error{sumOf(content): nil, sumOf(content[:6]): ErrChecksum, sumOf(""): ErrChecksum} {
		for _, size := range []int{1, 6, 7, 100} {
			d, err := openArchive(t.Context(), c, Checksum(sum))
			require.NoError(t, err)
			var got strings.Builder
			_, err = io.CopyBuffer(struct{ io.Writer }{&got}, struct{ io.Reader }{d}, make([]byte, size))
			require.ErrorIs(t, err, is)
			assert.Equal(t, content, got.String())
			require.NoError(t, d.Close())
		}
	}
}

// An invalid checksum is refused. So is a checksum for a call that is not a download, since it
// would not be checked.
func TestChecksumRefused(t *testing.T) {
	w := newWire(t, always(say(200, "content")))
	c := wireClient(t, w.url)
	for _, option := range []RequestOption{
		Checksum(""), Checksum(sumOf("")[1:]), Checksum("g" + sumOf("")[1:]),
	} {
		var v *ValidationError
		_, err := openArchive(t.Context(), c, option)
		require.ErrorAs(t, err, &v)
		assert.Equal(t, "Checksum", v.Option)
	}
	var v *ValidationError
	require.ErrorAs(t, c.Do(t.Context(), callOf(RetryClassSafe), nil, Checksum(sumOf(""))), &v)
	assert.Empty(t, w.seen())
}

// The memory of a download can be freed as soon as the download is closed. Earlier, the timer of
// its time limit kept it for another minute, and a soak test showed memory that grew with the rate
// of downloads.
func TestClosedDownloadIsFree(t *testing.T) {
	w := newWire(t, func(seen) act { return say(200, "content") })
	client := wireClient(t, w.url)
	var freed atomic.Bool
	func() {
		type key struct{}
		value := new([1 << 10]byte)
		runtime.AddCleanup(value, func(int) { freed.Store(true) }, 0)
		download, err := client.Repositories.Archive(context.WithValue(t.Context(), key{}, value), ID(1), nil)
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, download)
		require.NoError(t, err)
		require.NoError(t, download.Close())
	}()
	client.CloseIdleConnections()
	assert.Eventually(t, func() bool {
		runtime.GC()
		return freed.Load()
	}, time.Minute, 10*time.Millisecond)
}
