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
