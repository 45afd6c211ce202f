package forge

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/catalogue"
)

// exchange is one expected request and the response to it.
type exchange struct {
	// sent is the method and the path below /api/v4, escaped as on the wire.
	sent string
	// query is the raw query, but with unescaped brackets.
	query string
	// body is the JSON body; empty for none.
	body string
	// form is the form body with unescaped brackets, or a multipart body, with a file as
	// @name:content.
	form string
	// status is the status of the response; 0 means 200.
	status int
	// answer is the body of the response; a name that ends in .json or .csv is a file below testdata.
	answer string
	// header has additional response headers; a content type here replaces JSON.
	header map[string]string
}

// callRow is a row of a service's table: the request, its response, and the call. The response is a
// fixture, which the result must equal, so that a field that is not decoded fails the row; or a
// status with a body, which must be the call's error from 300 on.
type callRow struct {
	sent, query, body, answer string // as in exchange; a body that is no object is a form
	call                      func(c *Client) (any, error)
}

func runCalls(t *testing.T, rows []callRow) {
	t.Helper()
	for _, row := range rows {
		t.Run(row.sent+" "+row.answer, func(t *testing.T) {
			e := exchange{sent: row.sent, query: row.query, body: row.body, answer: row.answer}
			if !strings.HasPrefix(row.body, "{") {
				e.body, e.form = "", row.body
			}
			if code, text, _ := strings.Cut(row.answer, " "); len(code) == 3 {
				e.answer = text
				_, err := fmt.Sscan(code, &e.status)
				require.NoError(t, err)
			}
			got, err := row.call(serve(t, e))
			if e.status >= 300 {
				require.ErrorIs(t, err, sentinelFor(e.status))
				assert.Equal(t, strings.Contains(e.answer, `{"message":{`), len(asError(t, err).Fields) > 0)
				return
			}
			require.NoError(t, err)
			if e.answer != "" && e.status == 0 {
				assertWhole(t, row.answer, got)
			}
		})
	}
}

// serve responds to the exchanges in order. The test fails if a request differs, is not expected,
// or is not sent.
func serve(t *testing.T, exchanges ...exchange) *Client {
	t.Helper()
	var mu sync.Mutex
	served := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if !assert.Less(t, served, len(exchanges), "not expected: %s %s", r.Method, r.URL) {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		e := exchanges[served]
		served++
		e.verify(t, r)
		e.reply(t, w)
	}))
	client, err := NewClient(srv.URL, WithToken("exchange-token"))
	require.NoError(t, err)
	t.Cleanup(func() {
		client.CloseIdleConnections()
		srv.Close()
		assert.Equal(t, len(exchanges), served, "exchanges that happened")
	})
	return client
}

func (e exchange) verify(t *testing.T, r *http.Request) {
	method, path, _ := strings.Cut(e.sent, " ")
	assert.Equal(t, method, r.Method)
	assert.Equal(t, "/api/v4"+path, r.URL.EscapedPath())
	assert.Equal(t, e.query, strings.NewReplacer("%5B", "[", "%5D", "]").Replace(r.URL.RawQuery), "query")
	assert.Equal(t, "exchange-token", r.Header.Get("PRIVATE-TOKEN"))
	if e.form != "" {
		assert.Equal(t, e.form, readForm(t, r), "form")
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Errorf("reading the body: %v", err)
	}
	if e.body == "" {
		assert.Empty(t, string(body), "body")
		return
	}
	assert.Equal(t, "application/json", r.Header.Get("Content-Type"))
	assert.JSONEq(t, e.body, string(body), "body")
}

// readForm returns a form or multipart body in the notation of exchanges.
func readForm(t *testing.T, r *http.Request) string {
	if r.Method == http.MethodDelete { // net/http does not parse the body of a DELETE as a form
		assert.Equal(t, "application/x-www-form-urlencoded", r.Header.Get("Content-Type"))
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("reading the body: %v", err)
		}
		return strings.NewReplacer("%5B", "[", "%5D", "]").Replace(string(body))
	}
	if err := r.ParseMultipartForm(1 << 20); err != nil && !errors.Is(err, http.ErrNotMultipart) {
		t.Errorf("reading the form: %v", err)
	}
	values := url.Values{}
	maps.Copy(values, r.PostForm)
	if r.MultipartForm == nil {
		return strings.NewReplacer("%5B", "[", "%5D", "]").Replace(values.Encode())
	}
	var parts []string
	for name, list := range r.MultipartForm.Value {
		parts = append(parts, name+"="+strings.Join(list, ","))
	}
	for name, files := range r.MultipartForm.File {
		for _, file := range files {
			content, err := file.Open()
			if err != nil {
				t.Errorf("opening %s: %v", name, err)
				continue
			}
			text, _ := io.ReadAll(content)
			parts = append(parts, name+"=@"+file.Filename+":"+string(text))
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, "&")
}

func (e exchange) reply(t *testing.T, w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	for name, value := range e.header {
		w.Header().Set(name, value)
	}
	answer := []byte(e.answer)
	if strings.HasSuffix(e.answer, ".json") || strings.HasSuffix(e.answer, ".csv") {
		var err error
		if answer, err = os.ReadFile(filepath.Join("testdata", e.answer)); err != nil {
			t.Errorf("no response: %v", err)
		}
	}
	w.WriteHeader(cmp.Or(e.status, http.StatusOK))
	_, _ = w.Write(answer)
}

// assertWhole checks that the value has every field of the fixture: encoded as JSON again, it
// equals the fixture.
func assertWhole(t *testing.T, fixture string, got any) {
	t.Helper()
	written, err := json.Marshal(got)
	require.NoError(t, err)
	var want, have any
	require.NoError(t, json.Unmarshal(readFixture(t, fixture), &want))
	require.NoError(t, json.Unmarshal(written, &have))
	assert.Equal(t, catalogue.WithoutZeros("", want), catalogue.WithoutZeros("", have))
}

func readFixture(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return data
}

// assertRefused asserts that the call was refused for the option and its parameter before anything
// was sent.
func assertRefused(t *testing.T, err error, option, param string) {
	t.Helper()
	var invalid *ValidationError
	if assert.ErrorAs(t, err, &invalid) {
		assert.Equal(t, option, invalid.Option)
		assert.Equal(t, param, invalid.Param)
		assert.NotEmpty(t, invalid.Route)
	}
}
