package forge

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// fuzzClient is a client whose every call is answered by f, once.
func fuzzClient(t testing.TB, f staticAnswer, options ...Option) *Client {
	t.Helper()
	own := []Option{WithToken(secret), WithHTTPClient(&http.Client{Transport: f}), WithRetry(RetryPolicy{MaxAttempts: 1, MaxRetryAfter: 1})} // no server makes it wait
	client, err := NewClient("https://forge.example.com", overriding(own, options...)...)
	require.NoError(t, err)
	return client
}

// nothing is the transport of a client that sends nothing.
func nothing(*http.Request) (*http.Response, error) { return nil, errors.New("nothing is sent") }

func fuzzAnswer(req *http.Request, status int, h http.Header, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: h, ContentLength: -1, Body: io.NopCloser(strings.NewReader(body)), Request: req}
}

// safeText asserts that text can be shown: valid, short, and without what a terminal might obey.
func safeText(t *testing.T, text string) {
	t.Helper()
	require.LessOrEqual(t, len(text), 2*maxErrorText+1<<10)
	require.True(t, utf8.ValidString(text))
	require.False(t, hasControl(text), "%q", text)
}

// FuzzContentType: what is read as JSON says so, in any spelling and with any parameters; an HTML page never is; a download does
// not care; and what is shown of a type is safe to print.
func FuzzContentType(f *testing.F) {
	for _, s := range []string{
		"application/json", "APPLICATION/JSON; charset=utf-8", "text/json", "application/problem+json", "", ";", "text/html", "text/html;", " Text/HTML ; x", "application/xhtml+xml",
		"text/plain", "application/json, text/html", "a/b+json;=;", "text/html+json", "json", "application/json\x00", "multipart/form-data; boundary=\"\x1b[31m\"", "\u202e",
	} {
		f.Add(s)
	}
	answered := ""
	client := fuzzClient(f, func(req *http.Request) (*http.Response, error) {
		return fuzzAnswer(req, http.StatusOK, http.Header{"Content-Type": {answered}}, `{"time_estimate":7}`), nil
	})
	f.Fuzz(func(t *testing.T, contentType string) {
		answered = contentType
		d, err := client.Repositories.DownloadBlob(context.Background(), ID(1), "a")
		require.NoError(t, err, "the content of a blob has any type")
		safeText(t, d.ContentType)
		require.NoError(t, d.Close())

		stats, err := client.Issues.GetTimeStats(context.Background(), ID(1), 1)
		bare, _, _ := strings.Cut(contentType, ";")
		switch bare = strings.ToLower(strings.TrimSpace(bare)); {
		case bare == "application/json", bare == "text/json", bare == "", strings.HasSuffix(bare, "+json"):
			require.NoError(t, err)
			require.EqualValues(t, 7, stats.TimeEstimate)
		case bare == "text/html", bare == "application/xhtml+xml":
			require.ErrorIs(t, err, ErrAnswer)
			require.ErrorContains(t, err, "sign-in page")
		default:
			require.ErrorIs(t, err, ErrAnswer)
			safeText(t, err.Error())
		}
	})
}

// FuzzMultipartName: a file of any name and a text of any content are read back by mime/multipart as they were given, and nothing
// else is; a name that cannot be carried is refused before anything is sent.
func FuzzMultipartName(f *testing.F) {
	for _, s := range []string{"a.txt", `a"b`, `a\b`, "a\r\nX-Injected: 1", "ü.txt", "a%22b", "\x00", "\u202etxt.exe", `"; name="other`, "..", "/etc/passwd", "--", "\xff", " ", "\u0085"} {
		f.Add(s, s, []byte(s))
	}
	f.Fuzz(func(t *testing.T, name, text string, content []byte) {
		var sent []byte
		var header http.Header
		client := fuzzClient(t, func(req *http.Request) (*http.Response, error) {
			header = req.Header
			var err error
			sent, err = io.ReadAll(req.Body)
			require.NoError(t, err)
			require.Len(t, sent, int(req.ContentLength))
			return fuzzAnswer(req, http.StatusCreated, http.Header{}, `{"id":1}`), nil
		})
		_, err := client.SecureFiles.Upload(context.Background(), ID(1), &UploadSecureFileOptions{Name: text, File: FileBytes(content).Named(name)})
		var invalid *ValidationError
		if errors.As(err, &invalid) {
			require.Nil(t, sent)
			require.True(t, name == "" || hasControl(name) || strings.TrimSpace(text) == "" || len(content) > maxSecureFile, "%v", err)
			return
		}
		require.NoError(t, err)
		media, params, err := mime.ParseMediaType(header.Get("Content-Type"))
		require.NoError(t, err)
		require.Equal(t, "multipart/form-data", media)
		require.NotContains(t, string(content)+text+name, params["boundary"])

		parts := multipart.NewReader(bytes.NewReader(sent), params["boundary"])
		require.Equal(t, formPart{"name", "", text, 1}, nextPart(t, parts))
		require.Equal(t, formPart{"file", name, string(content), 2}, nextPart(t, parts))
		_, err = parts.NextRawPart()
		require.Equal(t, io.EOF, err)
	})
}

// formPart is a part of a multipart body as a server reads it.
type formPart struct {
	field, file, content string
	headers              int
}

func nextPart(t *testing.T, parts *multipart.Reader) formPart {
	t.Helper()
	part, err := parts.NextRawPart()
	require.NoError(t, err)
	content, err := io.ReadAll(part)
	require.NoError(t, err)
	kind, params, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
	require.NoError(t, err)
	require.Equal(t, "form-data", kind)
	return formPart{params["name"], params["filename"], string(content), len(part.Header)}
}

// spellings are ways in which a server may write what it was sent.
var spellings = []func(string) string{
	func(s string) string { return s },
	url.QueryEscape,
	url.PathEscape,
	func(s string) string { text, _ := json.Marshal(s); return string(text[1 : len(text)-1]) },
	func(s string) string { text := strconv.QuoteToASCII(s); return text[1 : len(text)-1] },
	func(s string) string { return eachByte(s, "%%%02x") },
	func(s string) string { return eachByte(s, "%%%02X") },
	func(s string) string { return eachByte(s, `\u%04x`) },
	func(s string) string { return strings.ReplaceAll(s, "/", `\/`) },
}

func eachByte(s, format string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, format, s[i])
	}
	return b.String()
}

// readings are what a reader may make of text: what it says, and what it says once decoded.
func readings(text string) []string {
	percent := decodeEach(strings.ReplaceAll(text, "+", " "), '%', 1, 3)
	return []string{text, decodeEach(text, '%', 1, 3), percent, decodeEach(text, '\\', 2, 6), printable(text)}
}

// decodeEach decodes the escapes that begin with mark and end in hex digits, and leaves the rest as it is.
func decodeEach(text string, mark byte, digits, size int) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == mark && i+size <= len(text) {
			if n, err := strconv.ParseUint(text[i+digits:i+size], 16, 8); err == nil && (digits == 1 || text[i+1] == 'u') {
				b.WriteByte(byte(n))
				i += size - 1
				continue
			}
		}
		if text[i] == mark && mark == '\\' && i+1 < len(text) {
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// hides asserts that no reading of what was left around the redactions holds the token.
func hides(t *testing.T, token, text string) {
	t.Helper()
	for part := range strings.SplitSeq(text, redacted) {
		for _, reading := range readings(part) {
			require.NotContains(t, reading, token)
		}
	}
}

// FuzzRedaction: however a token is written, and whatever surrounds it, no reading of what is left of a printable text holds it; and text
// without it stays as it was.
func FuzzRedaction(f *testing.F) {
	for form := range spellings {
		f.Add(uint8(form), secret, `{"message":"bad token `, `"}`)
		f.Add(uint8(form), "p@ss/w+rd =%25\\\"x", "https://user:", "@host/?a=%2B")
	}
	f.Add(uint8(0), "12345678", "%", "\\u00")
	f.Add(uint8(0), "%41%41%41", "%41%41%2541", "%2541")
	f.Fuzz(func(t *testing.T, form uint8, token, before, after string) {
		if plain := before + after; !hasEscapes(plain) && (len(token) < shortestToken || !strings.Contains(plain, token)) {
			require.Equal(t, plain, redact(plain, token))
		}
		if len(token) < shortestToken || strings.ContainsFunc(token, func(r rune) bool { return r < ' ' || r > '~' }) {
			return
		}
		spell := spellings[int(form)%len(spellings)]
		hides(t, token, redact(printable(before+spell(token)+after), token))
		hides(t, token, redact(printable(spell(before)+token+spell(after)), token))
	})
}

// FuzzEcho: a server that sends the credential back, spelled in any way and split by what is not shown, finds it in nothing that the
// caller is given.
func FuzzEcho(f *testing.F) {
	for form := range spellings {
		f.Add(uint8(form), `{"message":"bad token `, `"}`, "\x00", uint8(9), uint16(200))
		f.Add(uint8(form), `{"message":{"`, `":["x"]}}`, "\u202e", uint8(3), uint16(201))
		f.Add(uint8(form), `<title>`, `</title>`, "", uint8(4), uint16(303))
		f.Add(uint8(form), "", "", "\x7f", uint8(5), uint16(102))
	}
	var answer *http.Response
	client := fuzzClient(f, func(*http.Request) (*http.Response, error) { return answer, nil })
	f.Fuzz(func(t *testing.T, form uint8, before, after, split string, at uint8, status uint16) {
		if printable(split) != "" || strings.ContainsAny(split, "\t\r\n ") {
			split = ""
		}
		spell, cut := spellings[int(form)%len(spellings)], int(at)%len(secret)
		hidden := spell(secret[:cut]) + split + spell(secret[cut:])
		text := before + hidden + after
		for _, r := range runners {
			contentType := []string{"application/json", "text/html", "text/" + hidden}[at%3]
			answer = fuzzAnswer(nil, 200+int(status)%400, http.Header{
				"X-Request-Id": {text}, "X-Echo": {text}, "Content-Type": {contentType}, "Content-Disposition": {`attachment; filename="` + text + `"`},
				"Location": {"https://x" + hidden + ".example.com/" + text},
			}, text)
			var page Response
			err := r.run(context.Background(), client, Into(&page))
			shown := []string{page.RequestID}
			for _, values := range page.Header {
				shown = append(shown, values...)
			}
			var failed *Error
			if errors.As(err, &failed) {
				shown = append(shown, err.Error(), failed.Message, failed.RequestID)
				for name, texts := range failed.Fields {
					shown = append(append(shown, name), texts...)
				}
			}
			for _, text := range shown {
				hides(t, secret, text)
			}
		}
	})
}

// FuzzHeaders: an answer with any headers that net/http lets through makes a Response, a Download or an error that keep their promises.
func FuzzHeaders(f *testing.F) {
	for _, s := range []string{
		"Content-Type: application/json\r\nX-Total: 7\r\nX-Total-Pages: -1\r\nX-Next-Page: 2\r\n",
		"Link: <https://evil.example.com/?page=2&private_token=x&sudo=1>; rel=\"next\"\r\nSet-Cookie: a=b\r\nset-cookie: c\r\n",
		"X-Next-Page: 99999999999999999999\r\nRateLimit-Limit: 1e9\r\nRateLimit-Reset: 99999999999999\r\nRateLimit-Remaining: 0\r\n",
		"Retry-After: 19\r\n", "Retry-After: 99999999999999999999\r\nDate: Fri, 31 Dec 9999 23:59:59 GMT\r\n", "Location: //evil.example.com\r\n", "Location: /x\r\n", "Location: javascript:1\r\n",
		"Content-Disposition: attachment; filename*=UTF-8''..%2f..%2fpasswd\r\n", "X-Request-Id: \x1b[31m" + strings.Repeat("x", 300) + "\r\n", "Transfer-Encoding: chunked\r\n",
		"Content-Length: 5\r\n", "Content-Length: 1\r\nContent-Length: 2\r\n", "Content-Encoding: gzip\r\n", " folded: x\r\n", ": x\r\n", "Connection: close\r\nTrailer: Set-Cookie\r\n",
	} {
		f.Add(s, uint16(0))
		f.Add(s, uint16(229))
		f.Add(s, uint16(102))
	}
	f.Fuzz(func(t *testing.T, head string, status uint16) {
		code := 200 + int(status)%400
		client := fuzzClient(t, func(req *http.Request) (*http.Response, error) {
			wire := fmt.Sprintf("HTTP/1.1 %d X\r\n%s\r\n[{\"id\":1}]", code, head)
			return http.ReadResponse(bufio.NewReader(strings.NewReader(wire)), req)
		})
		ctx := context.Background()
		var page Response
		_, err := Collect(client.Issues.List(ctx, nil, OnePage(), Into(&page)))
		checkHeaderError(t, err, "/issues")
		if err == nil {
			checkPage(t, client, &page)
		}
		d, err := client.Repositories.Archive(ctx, ID(1), nil)
		checkHeaderError(t, err, archiveRoute)
		if err == nil {
			require.True(t, d.Name == "" || filepath.Join("/dir", d.Name) == "/dir/"+d.Name, d.Name)
			require.GreaterOrEqual(t, d.Size, int64(-1))
			safeText(t, d.ContentType)
			_, err = io.Copy(io.Discard, d)
			checkHeaderError(t, err, archiveRoute)
			_ = d.Close()
		}
	})
}

func checkPage(t *testing.T, client *Client, page *Response) {
	t.Helper()
	require.NotContains(t, page.Header, textproto.CanonicalMIMEHeaderKey("Set-Cookie"))
	require.LessOrEqual(t, len(page.RequestID), 128+len("..."))
	safeText(t, page.RequestID)
	for _, count := range []func() (int, bool){page.Total, page.TotalPages} {
		n, known := count()
		require.True(t, n >= 0 || !known)
	}
	if page.Cursor.Done() {
		return
	}
	var asked *http.Request
	client, err := client.With(WithHTTPClient(&http.Client{Transport: staticAnswer(func(req *http.Request) (*http.Response, error) {
		asked = req
		return fuzzAnswer(req, http.StatusOK, http.Header{}, "[]"), nil
	})}))
	require.NoError(t, err)
	_, err = Collect(client.Issues.List(context.Background(), nil, StartAt(page.Cursor)))
	require.NoError(t, err, "a cursor that was given out is taken back")
	require.Equal(t, "forge.example.com", asked.URL.Host)
	require.Equal(t, "/api/v4/issues", asked.URL.Path)
	for name := range asked.URL.Query() {
		require.False(t, isCredentialParam(name), name)
	}
}

func checkHeaderError(t *testing.T, err error, route string) {
	t.Helper()
	if err == nil {
		return
	}
	var failed *Error
	require.ErrorAs(t, err, &failed)
	require.Equal(t, route, failed.Route)
	safeText(t, err.Error())
	var limited *RateLimitError
	if errors.As(err, &limited) && !limited.Until.IsZero() {
		require.False(t, limited.Until.Before(time.Now().Add(-time.Minute)))
	}
}

// FuzzReassignments: a file of any bytes is refused, or its rows are read and written and read again as the same rows.
func FuzzReassignments(f *testing.F) {
	const columns = "Source host,Import type,Source user identifier,Source user name,Source username,Platform username,Platform public email"
	for _, s := range []string{
		columns + "\nhost,github,1,\"A, \"\"B\"\"\",b,me,\n", "\ufeff" + columns + ",Extra\r\na,b,c,d,e,f,g,h\r\n", columns + "\na,b\n", columns + "\n\"", columns, "", "\n", "x,y\n1,2\n",
		columns + ",Source host\n", strings.ReplaceAll(columns, "Platform", "GitLab") + "\n=1+1,\t,\r,\"\n\",\x00,\xff,ü\n", columns + "\n\n\n\"\",,,,,,\n", columns + ",\n1,2,3,4,5,6,7,8\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		service := fuzzClient(t, nothing).PlaceholderReassignments
		rows, err := Collect(service.Read(bytes.NewReader(file)))
		if err != nil {
			require.NotEmpty(t, err.Error())
			require.True(t, strings.HasPrefix(err.Error(), "forge: "), err.Error())
			return
		}
		var written bytes.Buffer
		require.NoError(t, service.Write(&written, sequence(rows)))
		if len(rows) == 0 {
			return
		}
		again, err := Collect(service.Read(bytes.NewReader(written.Bytes())))
		require.NoError(t, err, "%q", written.String())
		require.Len(t, again, len(rows))
		for i := range rows {
			require.Equal(t, rows[i], again[i])
		}
		var twice bytes.Buffer
		require.NoError(t, service.Write(&twice, sequence(again)))
		require.Equal(t, written.String(), twice.String())
	})
}

func sequence(rows []*PlaceholderReassignment) iter.Seq2[*PlaceholderReassignment, error] {
	return func(yield func(*PlaceholderReassignment, error) bool) {
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
	}
}
