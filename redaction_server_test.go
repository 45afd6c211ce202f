package forge

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/racetest"
)

// secretPlaces are the places of a response where a server can write a text, except the name of a
// header and the content of a value.
func secretPlaces(text string) map[string]func(seen) act {
	const head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	moved := func(location string) func(seen) act {
		return func(s seen) act {
			if !strings.Contains(s.uri, "redacted") {
				return say(307, "", "Location: "+location)
			}
			return sayJSON("{}")
		}
	}
	return map[string]func(seen) act{
		"reason":            always(keeping("HTTP/1.1 200 " + text + "\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")),
		"reason of error":   always(keeping("HTTP/1.1 404 " + text + "\r\nContent-Length: 0\r\n\r\n")),
		"status":            always(closing("HTTP/1.1 " + text + "\r\n\r\n")),
		"protocol":          always(closing(text + " 200 OK\r\n\r\n")),
		"header":            always(say(200, "{}", jsonType, "X-A: "+text, "X-Request-Id: "+text, "Date: "+text, "X-Total: "+text, "Etag: "+text)),
		"cookie":            always(say(200, "{}", jsonType, "Set-Cookie: a="+text)),
		"link":              always(say(200, "[]", jsonType, "Link: <https://x/"+text+"?page=2&a="+text+">; rel=next")),
		"page number":       always(say(200, "[]", jsonType, "X-Next-Page: "+text)),
		"content type":      always(say(200, "{}", "Content-Type: "+text+"/"+text)),
		"content encoding":  always(say(200, "{}", jsonType, "Content-Encoding: "+text)),
		"transfer encoding": always(closing(head + "Transfer-Encoding: " + text + "\r\n\r\n")),
		"length":            always(closing(head + "Content-Length: " + text + "\r\n\r\n")),
		"wait":              always(say(429, "{}", jsonType, "Retry-After: "+text, "Ratelimit-Reset: "+text)),
		"file name":         always(say(200, "x", "Content-Type: a/b", `Content-Disposition: attachment; filename="`+text+`"; filename*=utf-8''`+text)),
		"trailer":           always(keeping(head + "Trailer: X-A\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX-A: " + text + "\r\nX-B: " + text + "\r\n\r\n")),
		"chunk":             always(closing(head + "Transfer-Encoding: chunked\r\n\r\n" + text + "\r\n{}\r\n")),
		"redirect":          moved("/api/v4/" + text + "?a=" + text),
		"redirect away":     moved("https://127.0.0.1:1/" + text),
		"redirect to host":  moved("gopher://" + text + ".example.invalid/"),
		"redirect, refused": moved("ftp://" + text + "/"),
		"bad redirect":      moved("https://" + text + ":" + text + "/%zz"),
		"key":               always(sayJSON(`{"` + text + `":1,"id":7}`)),
		"key in list":       always(sayJSON(`[{"` + text + `":1,"id":7}]`)),
		"key of map":        always(sayJSON(`[{"commit":{"extended_trailers":{"` + text + `":7}}}]`)),
		"two keys":          always(sayJSON(`{"` + text + `":{"` + text + `":1}}`)),
		"JSON":              always(sayJSON(text)),
		"value":             always(sayJSON(`{"id":"` + text + `"}`)),
		"message":           always(say(400, `{"message":"`+text+`"}`, jsonType)),
		"field":             always(say(400, `{"message":{"`+text+`":["`+text+`"]}}`, jsonType)),
		"registry error":    always(say(400, `{"errors":[{"code":"`+text+`","message":"`+text+`"}]}`, jsonType)),
		"title":             always(say(502, "<title>"+text+"</title>", "Content-Type: text/html")),
		"text":              always(say(409, text, "Content-Type: text/plain")),
		"rows":              always(say(200, text+",b\n", "Content-Type: text/csv")),
		"columns":           always(say(200, text+","+text+"\n", "Content-Type: text/csv")),
	}
}

// A credential that the server sends back is not visible in anything that the caller gets, except
// the values of a success, also if the text is cut in the middle of it, at three places, and with FORGE_LONG=1 at six.
func TestServerTextIsRedacted(t *testing.T) {
	offsets := []int{0, 115, 8 << 10}
	switch {
	case racetest.Enabled: // the goroutines are the same
		offsets = offsets[:1]
	case longForm():
		offsets = append(offsets, 50, 245, 495)
	}
	for _, before := range offsets {
		for name, answer := range secretPlaces(strings.Repeat("x", before) + secret) {
			t.Run(fmt.Sprint(name, " after ", before), func(t *testing.T) {
				w, drift := newWire(t, answer), new(Drift)
				out := &witness{}
				c := wireClient(t, w.url, append(out.options(), WithDrift(drift), WithRetry(RetryPolicy{MaxAttempts: 1}))...)
				strict, err := c.With(WithStrictDecoding())
				require.NoError(t, err)
				readServerText(t.Context(), c, out, t.TempDir())
				if before == 0 || longForm() {
					readServerText(t.Context(), strict, out, t.TempDir())
				}
				out.see(drift, drift.Entries())
				assert.Empty(t, reveals(out.all(), secret[:14]))
			})
		}
	}
}

// readServerText makes calls that read each part of a response, and passes what they return to the
// witness, without the values of a success.
func readServerText(ctx context.Context, c *Client, out *witness, dir string) {
	into := func() RequestOption {
		page := new(Response)
		out.see(page)
		return Into(page)
	}
	_, err := c.Issues.GetTimeStats(ctx, ID(1), 2, into())
	out.see(err, c.Do(ctx, classRoutes[RetryClassNonIdempotent], nil, into()), c.Do(ctx, classRoutes[RetryClassSafe], new(any), into()))
	_, err = Collect(c.Issues.List(ctx, nil, into()))
	out.see(err)
	_, err = Collect(c.Runners.ListJobs(ctx, 1, nil, into()))
	out.see(err)
	_, err = Collect(c.PlaceholderReassignments.List(ctx, ID(1), into()))
	out.see(err)
	if d, err := openArchive(ctx, c, into()); err == nil {
		out.see(d, d.SaveTo(filepath.Join(dir, "file")))
	} else {
		out.see(err)
	}
	_, err = c.SecureFiles.Upload(ctx, ID(1), &UploadSecureFileOptions{Name: "a", File: FileBytes([]byte("x"))}, into())
	out.see(err)
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		req, _ := http.NewRequestWithContext(ctx, method, c.core.baseURL()+"/x", http.NoBody)
		resp, err := c.HTTPClient().Do(req)
		out.see(err)
		if err == nil {
			_, err = io.Copy(io.Discard, resp.Body)
			out.see(resp, err, resp.Body.Close())
			location, err := resp.Location()
			out.see(location, err)
		}
	}
}

// The plan of an upload shows no credential in the names of its fields and files.
func TestPlannedNamesAreRedacted(t *testing.T) {
	c := wireClient(t, "https://forge.example.com")
	path := filepath.Join(t.TempDir(), secret)
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	for _, form := range []Multipart{
		{Fields: map[string]string{secret: "a"}, File: FileBytes(nil)}, {Fields: map[string]string{"a": secret}, File: FileBytes(nil)},
		{FileField: secret, File: FileBytes(nil)}, {File: File{Name: secret, Open: FileBytes(nil).Open}}, {File: FileAt(path)},
	} {
		var plan PlannedRequest
		err := c.Do(t.Context(), Call{Method: http.MethodPost, Route: "/x", Multipart: &form}, nil, DryRun(&plan))
		require.Error(t, err)
		assert.Empty(t, reveals([]any{err, plan, plan.Curl()}), "%v", form)
	}
}
