package forge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// cutRow is a response and the text of the client's error; the text of a complete response is
// empty.
type cutRow struct{ name, answer, text string }

// diffsJSON returns n complete diffs.
func diffsJSON(n int) string {
	return strings.Join(slices.Repeat([]string{`{"old_path":"a","new_path":"a","a_mode":"100644","b_mode":"100644","diff":"@@"}`}, n), ",")
}

// flagRows returns the signs of truncation within a list of diffs.
func flagRows(key string) []cutRow {
	return []cutRow{
		{"whole", `{"` + key + `":[` + diffsJSON(1) + `]}`, ""},
		{"nothing", `{"` + key + `":[]}`, ""},
		{"absent", `{}`, ""},
		{"collapsed", `{"` + key + `":[` + diffsJSON(1) + `,{"new_path":"b","collapsed":true}]}`, `1 of 2 diffs are collapsed or too large, the first is that of "b"`},
		{"too large", `{"` + key + `":[{"new_path":"b","diff":"","deleted_file":true,"too_large":true}]}`, "too large"},
		{"not marked", `{"` + key + `":[{"old_path":"b","new_path":"b","a_mode":"100644","b_mode":"100644","diff":""}]}`, `"b"`},
		{"only the mode", `{"` + key + `":[{"old_path":"b","new_path":"b","a_mode":"100644","b_mode":"100755","diff":""}]}`, ""},
		{"empty file", `{"` + key + `":[{"old_path":"b","new_path":"b","diff":"","new_file":true}]}`, ""},
	}
}

// countRows returns the signs of truncation in the number of changed files, which is next to the
// diffs.
func countRows(count, key string) []cutRow {
	row := func(name, n string, diffs int, text string) cutRow {
		return cutRow{name, fmt.Sprintf(`{"%s":%s,"%s":[%s]}`, count, n, key, diffsJSON(diffs)), text}
	}
	return []cutRow{
		row("all that were counted", `"2"`, 2, ""),
		row("more than were counted", `"2"`, 3, ""),
		row("fewer than were counted", `"3"`, 2, "2 diffs of 3"),
		row("none of those counted", `"3"`, 0, "0 diffs of 3"),
		row("no more than a count that stopped", `"2+"`, 2, "2+"),
		row("less than a count that stopped", `"1000+"`, 2, "1000+"),
		row("no count", `null`, 2, ""),
		row("an empty count", `""`, 2, ""),
		row("no number", `"many"`, 2, ""),
		{"nothing but a count", `{"` + count + `":"1000+"}`, ""},
	}
}

// TestRequireComplete checks that each sign of truncation is visible, and an error with
// RequireComplete. The hint fits the request: it does not suggest raw diffs for a request that
// already has them.
func TestRequireComplete(t *testing.T) {
	changes := func(o *ChangesOptions) func(context.Context, *Client, ...RequestOption) (truncatable, error) {
		return func(ctx context.Context, c *Client, opts ...RequestOption) (truncatable, error) {
			return cuttableOf(c.MergeRequests.GetChanges(ctx, ID(42), 14, o, opts...))
		}
	}
	overflow := cutRow{"overflow", `{"changes":[` + diffsJSON(1) + `],"overflow":true}`, "overflow"}
	enough := cutRow{"more than a count that stopped", `{"changes_count":"2+","changes":[` + diffsJSON(3) + `]}`, ""}
	for _, form := range []struct {
		name, sent, query, remedy, never string
		rows                             []cutRow
		read                             func(context.Context, *Client, ...RequestOption) (truncatable, error)
	}{
		{"changes", "GET /projects/42/merge_requests/14/changes", "", "use AccessRawDiffs to read them completely", "clone",
			append(append(flagRows("changes"), countRows("changes_count", "changes")...), overflow, enough), changes(nil)},
		{"raw changes", "GET /projects/42/merge_requests/14/changes", "access_raw_diffs=true", "clone the repository", "AccessRawDiffs",
			append(append(flagRows("changes"), countRows("changes_count", "changes")...), overflow, enough), changes(&ChangesOptions{AccessRawDiffs: new(true)})},
		{"version", "GET /projects/42/merge_requests/14/versions/3", "", "GetChanges with AccessRawDiffs", "clone",
			append(flagRows("diffs"), countRows("real_size", "diffs")...), func(ctx context.Context, c *Client, opts ...RequestOption) (truncatable, error) {
				return cuttableOf(c.MergeRequests.GetVersion(ctx, ID(42), 14, 3, nil, opts...))
			}},
		{"comparison", "GET /projects/42/repository/compare", "from=a&to=b", "compare fewer commits", "AccessRawDiffs",
			append(flagRows("diffs"), cutRow{"out of time", `{"diffs":[],"compare_timeout":true}`, "compare_timeout"}), func(ctx context.Context, c *Client, opts ...RequestOption) (truncatable, error) {
				return cuttableOf(c.Repositories.Compare(ctx, ID(42), &CompareOptions{From: "a", To: "b"}, opts...))
			}},
	} {
		for _, row := range form.rows {
			t.Run(form.name+"/"+row.name, func(t *testing.T) {
				e := exchange{sent: form.sent, query: form.query, answer: row.answer}
				c := serve(t, e, e)
				answer, err := form.read(t.Context(), c)
				require.NoError(t, err)
				assert.Equal(t, row.text != "", answer.(interface{ Incomplete() bool }).Incomplete())
				_, err = form.read(t.Context(), c, RequireComplete())
				if row.text == "" {
					require.NoError(t, err)
					return
				}
				require.ErrorIs(t, err, ErrIncomplete)
				require.NotErrorIs(t, err, ErrInvalidResponse)
				require.ErrorContains(t, err, row.text)
				require.ErrorContains(t, err, form.remedy)
				assert.NotContains(t, err.Error(), form.never)
				var failed *Error
				require.True(t, errors.As(err, &failed) && failed.Status == 200 && failed.Attempts == 1, err)
			})
		}
	}
}

func cuttableOf[T any](answer *T, err error) (truncatable, error) {
	if err != nil {
		return nil, err
	}
	return any(answer).(truncatable), nil
}

// MaxBytes limits a response to exactly the number of bytes, for each value.
func TestMaxBytes(t *testing.T) {
	const body = `[{"id":1},{"id":2}]`
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, body[:5])
		_ = http.NewResponseController(w).Flush() // no Content-Length
		_, _ = io.WriteString(w, body[5:])
	}))
	defer srv.Close()
	client := onceClient(t, srv.URL)
	for _, limit := range []int64{1, 5, int64(len(body)) - 1, int64(len(body)), math.MaxInt64 - 1, math.MaxInt64} {
		var rows []listRow
		_, err := collectIDs(t.Context(), client, offsetCall, MaxBytes(limit))
		failed := client.Do(t.Context(), offsetCall, &rows, MaxBytes(limit))
		d, opened := client.Repositories.DownloadBlob(t.Context(), ID(1), "abc", MaxBytes(limit))
		require.NoError(t, opened)
		_, read := io.ReadAll(d)
		require.NoError(t, d.Close())
		for _, err := range []error{err, failed, read} {
			if limit < int64(len(body)) {
				require.ErrorIs(t, err, ErrResponseTooLarge, "limit %d", limit)
			} else {
				require.NoError(t, err, "limit %d", limit)
			}
		}
	}
}

// A request option that does not apply to its executor, or has an invalid value, is refused.
func TestOptionsThatDoNotFit(t *testing.T) {
	client := silentServer(t)
	ctx := t.Context()
	executors := map[callKind]func(RequestOption) error{
		kindJSON: func(o RequestOption) error {
			_, err := client.Issues.GetTimeStats(ctx, ID(1), 1, o)
			return err
		},
		kindNoResult: func(o RequestOption) error {
			return client.Do(ctx, Call{Method: http.MethodGet, Route: "/user"}, nil, o)
		},
		kindStream: func(o RequestOption) error {
			_, err := client.Repositories.DownloadBlob(ctx, ID(1), "abc", o)
			return err
		},
		kindList: func(o RequestOption) error {
			_, err := Collect(client.Issues.List(ctx, nil, o))
			return err
		},
	}
	const none = callKind(0)
	for _, test := range []struct {
		name, param string
		option      RequestOption
		fits        callKind // the kind of call that accepts it and is not tested
	}{
		{"OnePage", "", OnePage(), kindList},
		{"RequireComplete", "", RequireComplete(), kindJSON},
		{"PerPage", "", PerPage(5), kindList},
		{"StartAt", "", StartAt("x"), kindList},
		{"Ahead", "", Ahead(2), kindList},
		{"Progress", "", Progress(func(int64, int64) {}), kindAny &^ kindList},
		{"MaxBytes", "", MaxBytes(1), kindAny &^ kindNoResult},
		{"PerPage", "per_page", PerPage(0), kindAny &^ kindList},
		{"PerPage", "per_page", PerPage(-1), kindAny &^ kindList},
		{"Ahead", "", Ahead(-1), none},
		{"StartAt", "", StartAt("x"), none},
		{"MaxBytes", "", MaxBytes(0), none},
		{"MaxBytes", "", MaxBytes(-1), none},
		{"HeaderTimeout", "", HeaderTimeout(0), none},
		{"HeaderTimeout", "", HeaderTimeout(-time.Second), none},
		{"Sudo", "sudo", Sudo(0), none},
		{"Sudo", "sudo", Sudo(-1), none},
		{"Retry", "", Retry(RetryPolicy{MaxAttempts: -1}), none},
		{"Retry", "", Retry(RetryPolicy{MinWait: -1}), none},
		{"Query", "", Query("", "x"), none},
		{"Query", "private_token", Query("private_token", "x"), none},
		{"Query", "SUDO", Query("SUDO", "1"), none},
		{"Header", "", Header("", "x"), none},
		{"Header", "", Header("a b", "x"), none},
		{"Header", "", Header("A:b", "x"), none},
		{"Header", "", Header("Private_Token", "x"), none},
		{"Header", "", Header("ü", "x"), none},
		{"Header", "", Header("X", "a\nb"), none},
		{"Header", "", Header("X", "a\x00"), none},
		{"Header", "Private-Token", Header("PRIVATE-TOKEN", "x"), none},
		{"Header", "Private-Token", Header("private-token", "x"), none},
		{"Header", "Job-Token", Header("JOB-TOKEN", "x"), none},
		{"Header", "Deploy-Token", Header("Deploy-Token", "x"), none},
		{"Header", "Authorization", Header("authorization", "x"), none},
		{"Header", "Proxy-Authorization", Header("proxy-authorization", "x"), none},
		{"Header", "Cookie", Header("cookie", "x"), none},
		{"Header", "Sudo", Header("sudo", "1"), none},
		{"Header", "Idempotency-Key", Header("idempotency-key", "x"), none},
		{"Header", "X-Idempotency-Key", Header("X-Idempotency-Key", "x"), none},
		{"Header", "Host", Header("Host", "x"), none},
		{"Header", "Content-Length", Header("Content-Length", "1"), none},
		{"Header", "Transfer-Encoding", Header("Transfer-Encoding", "x"), none},
		{"Header", "Connection", Header("Connection", "x"), none},
		{"Header", "Accept-Encoding", Header("Accept-Encoding", "gzip"), none},
	} {
		for kind, send := range executors {
			if test.fits&kind != 0 {
				continue
			}
			err := send(test.option)
			var invalid *ValidationError
			require.ErrorAs(t, err, &invalid, "%s, executor %d", test.name, kind)
			assert.Equal(t, test.name, invalid.Option)
			assert.NotEmpty(t, invalid.Route)
			if test.param != "" && test.fits == none {
				assert.Equal(t, test.param, invalid.Param)
			}
		}
	}
}
