package forge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// cutRow is a response and what the client says of it; no text for a response that is whole.
type cutRow struct{ name, answer, text string }

// diffsJSON are n diffs that are whole.
func diffsJSON(n int) string {
	return strings.Join(slices.Repeat([]string{`{"old_path":"a","new_path":"a","a_mode":"100644","b_mode":"100644","diff":"@@"}`}, n), ",")
}

// flagRows are the signs of a cut that a list of diffs itself has.
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

// countRows are the signs of a cut that a number of changed files beside the diffs is.
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

// TestComplete shows that each sign of a cut is visible, and with Complete an error. The remedy
// fits the request: one that had raw diffs is not told to ask for them.
func TestComplete(t *testing.T) {
	changes := func(o *ChangesOptions) func(context.Context, *Client, ...RequestOption) (cuttable, error) {
		return func(ctx context.Context, c *Client, opts ...RequestOption) (cuttable, error) {
			return cuttableOf(c.MergeRequests.GetChanges(ctx, ID(42), 14, o, opts...))
		}
	}
	overflow := cutRow{"overflow", `{"changes":[` + diffsJSON(1) + `],"overflow":true}`, "overflow"}
	enough := cutRow{"more than a count that stopped", `{"changes_count":"2+","changes":[` + diffsJSON(3) + `]}`, ""}
	for _, form := range []struct {
		name, sent, query, remedy, never string
		rows                             []cutRow
		read                             func(context.Context, *Client, ...RequestOption) (cuttable, error)
	}{
		{"changes", "GET /projects/42/merge_requests/14/changes", "", "AccessRawDiffs reads them whole", "clone",
			append(append(flagRows("changes"), countRows("changes_count", "changes")...), overflow, enough), changes(nil)},
		{"raw changes", "GET /projects/42/merge_requests/14/changes", "access_raw_diffs=true", "clone the repository", "AccessRawDiffs",
			append(append(flagRows("changes"), countRows("changes_count", "changes")...), overflow, enough), changes(&ChangesOptions{AccessRawDiffs: new(true)})},
		{"version", "GET /projects/42/merge_requests/14/versions/3", "", "GetChanges with AccessRawDiffs", "clone",
			append(flagRows("diffs"), countRows("real_size", "diffs")...), func(ctx context.Context, c *Client, opts ...RequestOption) (cuttable, error) {
				return cuttableOf(c.MergeRequests.GetVersion(ctx, ID(42), 14, 3, nil, opts...))
			}},
		{"comparison", "GET /projects/42/repository/compare", "from=a&to=b", "compare fewer commits", "AccessRawDiffs",
			append(flagRows("diffs"), cutRow{"out of time", `{"diffs":[],"compare_timeout":true}`, "compare_timeout"}), func(ctx context.Context, c *Client, opts ...RequestOption) (cuttable, error) {
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
				_, err = form.read(t.Context(), c, Complete())
				if row.text == "" {
					require.NoError(t, err)
					return
				}
				require.ErrorIs(t, err, ErrIncomplete)
				require.NotErrorIs(t, err, ErrAnswer)
				require.ErrorContains(t, err, row.text)
				require.ErrorContains(t, err, form.remedy)
				assert.NotContains(t, err.Error(), form.never)
				var failed *Error
				require.True(t, errors.As(err, &failed) && failed.Status == 200 && failed.Attempts == 1, err)
			})
		}
	}
}

func cuttableOf[T any](answer *T, err error) (cuttable, error) {
	if err != nil {
		return nil, err
	}
	return any(answer).(cuttable), nil
}
