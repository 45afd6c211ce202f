package forge

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// firstCursor returns the cursor of the second page of a list.
func firstCursor(t *testing.T, ctx context.Context, client *Client, call Call) Cursor { //nolint:revive // t first, as everywhere
	var page Response
	_, err := collectIDs(ctx, client, call, PerPage(2), OnePage(), Into(&page))
	require.NoError(t, err)
	require.False(t, page.Cursor.Done())
	return page.Cursor
}

func TestCursorEnds(t *testing.T) {
	srv := servePages(t, &pageServer{rows: 5})
	client := onceClient(t, srv.URL)
	var page Response
	_, err := collectIDs(t.Context(), client, offsetCall, Into(&page))
	require.NoError(t, err)
	require.True(t, page.Cursor.Done())

	finished := page.Cursor
	srv.asked = nil
	for _, ahead := range []int{0, 2} {
		ids, err := collectIDs(t.Context(), client, offsetCall, StartAt(finished), Ahead(ahead), Into(&page))
		require.NoError(t, err)
		assert.Empty(t, ids, "a finished cursor yields nothing")
		assert.True(t, page.Cursor.Done(), "and stays finished")
	}
	assert.Zero(t, srv.count())

	ids, err := collectIDs(t.Context(), client, offsetCall, StartAt(""))
	require.NoError(t, err)
	assert.Equal(t, upTo(5), ids, "the zero cursor starts over")
	assert.False(t, Cursor("").Done())
}

// An invalid cursor, or a cursor of another list, is refused before anything is sent.
func TestCursorRefused(t *testing.T) {
	srv := servePages(t, &pageServer{rows: 5})
	client := onceClient(t, srv.URL)
	call := offsetCall
	call.Query = url.Values{"state": {"opened"}}
	good := firstCursor(t, t.Context(), client, call)
	other := func(change func(*Call)) Call {
		c := call
		change(&c)
		return c
	}
	tests := map[string]struct {
		cursor Cursor
		call   Call
	}{
		"another route":     {good, other(func(c *Call) { c.Route = "/groups/:id/registry/repositories" })},
		"another argument":  {good, other(func(c *Call) { c.Args = []Arg{ID(7)} })},
		"another filter":    {good, other(func(c *Call) { c.Query = url.Values{"state": {"closed"}} })},
		"one filter more":   {good, other(func(c *Call) { c.Query = url.Values{"state": {"opened"}, "in": {"title"}} })},
		"one filter fewer":  {good, other(func(c *Call) { c.Query = nil })},
		"finished, another": {newCursor("other", ""), call},
		"another version":   {"2" + good[1:], call},
		"garbage":           {"garbage", call},
		"dots":              {"..", call},
		"empty place":       {good[:strings.LastIndex(string(good), ".")+1], call},
		"one part more":     {good + ".x", call},
		"too long":          {good + Cursor(strings.Repeat("A", 20<<10)), call},
		"one byte more":     {good + "!", call},
		"too long a place":  {newCursor(listID(client.customRequest(call), call.Query), "page=2&per_page=2&x="+strings.Repeat("a", maxPosition+100)), call},
	}
	for i := range good {
		tests[fmt.Sprintf("cut at %d", i)] = struct {
			cursor Cursor
			call   Call
		}{good[:i], call}
		changed := []byte(good)
		changed[i] ^= 2
		tests[fmt.Sprintf("changed at %d", i)] = struct {
			cursor Cursor
			call   Call
		}{Cursor(changed), call}
	}
	delete(tests, "cut at 0") // the zero cursor
	srv.asked = nil
	for name, test := range tests {
		for _, ahead := range []int{0, 2} {
			ids, err := collectIDs(t.Context(), client, test.call, StartAt(test.cursor), Ahead(ahead))
			var invalid *ValidationError
			require.ErrorAs(t, err, &invalid, name)
			assert.Equal(t, "StartAt", invalid.Option)
			assert.Equal(t, "GET "+test.call.Route, invalid.Route)
			assert.Empty(t, ids)
		}
	}
	assert.Zero(t, srv.count(), "a request was sent")

	rest, err := collectIDs(t.Context(), client, call, StartAt(good), PerPage(50))
	require.NoError(t, err, "the page size does not belong to the identity of a list")
	assert.Equal(t, []int64{3, 4, 5}, rest)
	for _, name := range []string{"per_page", "pagination"} {
		_, err = collectIDs(t.Context(), client, other(func(c *Call) { c.Query = url.Values{"state": {"opened"}, name: {"7"}} }), StartAt(good))
		require.NoError(t, err, "nor does %s in the query", name)
	}
	longest := "page=2&x=" + strings.Repeat("a", maxPosition-len("page=2&x="))
	place, err := newCursor("list", longest).query("list")
	require.NoError(t, err)
	assert.Equal(t, longest, place)
	prefix := newCursor("list", "")
	prefix = prefix[:strings.LastIndex(string(prefix), ".")+1]
	_, err = (prefix + Cursor(base64.RawURLEncoding.EncodeToString([]byte(cursorChecksum(""))))).query("list")
	require.ErrorContains(t, err, "the cursor is damaged", "no query is not the end of the list")
	for size, reason := range map[int]string{maxCursor: "the cursor is damaged", maxCursor + 1: "it is not a cursor"} {
		_, err = (prefix + Cursor(strings.Repeat("!", size-len(prefix)))).query("list")
		require.ErrorContains(t, err, reason)
	}
}

// Whatever a cursor was made to contain, the list sends its own filters: those that it has, with
// their values, and no other that the contract lists. The position of the cursor is kept.
func TestCursorCannotChangeFilters(t *testing.T) {
	srv := servePages(t, &pageServer{rows: 5})
	client := onceClient(t, srv.URL)
	own := url.Values{"state": {"opened"}, "labels": {"a,b"}, "iids[]": {"1", "2"}, "not[labels]": {"c"}, "local[x]": {"d"}}
	documented := offsetCall
	documented.Query = own
	undocumented := Call{Route: "/groups/:id/boards", Args: offsetCall.Args, Query: own}
	names := []string{
		"state", "state[]", "State", " state", "labels", "labels[]", "labels[0]", "[labels]", "iids", "iids[]", "iids[][]", "not[labels]", "not[labels][]", "not", "not[milestone]", "local[x]", "local[y]",
		"milestone", "milestone[]", "author_id", "scope", "confidential", "with_labels_details", "%6eot[milestone]", "labels%5B%5D", "order_by", "sort",
	}
	rapid.Check(t, func(rt *rapid.T) {
		forged := url.Values{"page": {"2"}, "per_page": {"2"}}
		for _, name := range rapid.SliceOfN(rapid.SampledFrom(names), 1, 6).Draw(rt, "names") {
			forged[name] = rapid.SliceOfN(rapid.SampledFrom([]string{"", "forged", "x,y"}), 1, 2).Draw(rt, name)
		}
		for _, call := range []Call{documented, undocumented} {
			r := client.customRequest(call)
			cursor := newCursor(listID(r, own), forged.Encode())
			srv.asked = nil
			_, err := collectIDs(t.Context(), client, call, StartAt(cursor), OnePage())
			require.NoError(rt, err)
			require.Len(rt, srv.addresses(), 1)
			sent, expected := srv.addresses()[0].Query(), maps.Clone(own)
			expected["page"], expected["per_page"] = []string{"2"}, []string{"2"}
			for name := range forged {
				filter := slices.Contains([]string{"state", "labels", "iids", "not", "local"}, baseParam(name))
				known := slices.Contains([]string{"milestone", "author_id", "scope", "confidential", "with_labels_details"}, baseParam(name))
				place := name == "order_by" || name == "sort"                              // chosen by the library
				if name == "State" || place || known && call.Route == undocumented.Route { // another parameter; one that the library does not know
					expected[name] = forged[name]
				} else if !filter && !known && name != "page" && name != "per_page" {
					rt.Fatalf("%q is in no group", name)
				}
			}
			require.Equal(rt, expected, sent)
		}
	})
	ids, err := collectIDs(t.Context(), client, offsetCall, StartAt(newCursor(listID(client.customRequest(offsetCall), nil), "private_token=x")))
	require.NoError(t, err)
	assert.Equal(t, upTo(5), ids, "a cursor without a position is not the end of the list")
}

// A cursor contains no host and no credential, and needs no escapes in an address, so it can be
// stored anywhere.
func TestCursorHoldsNoSecret(t *testing.T) {
	const secrets = "private_token=secret-token&sudo=1&access_token=secret-token"
	srv := servePages(t, &pageServer{hook: func(w http.ResponseWriter, _ *http.Request, page int) bool {
		w.Header().Set("Link", fmt.Sprintf(`<http://forge.example.com/x?page=%d&%s>; rel="next"`, page+1, secrets))
		writeRows(w, page, page)
		return true
	}})
	cursor := string(firstCursor(t, t.Context(), onceClient(t, srv.URL), offsetCall))
	assert.Equal(t, cursor, url.QueryEscape(cursor))
	assert.Less(t, len(cursor), 100)
	for part := range strings.SplitSeq(cursor, ".") {
		decoded, _ := base64.RawURLEncoding.DecodeString(part)
		for _, secret := range []string{"secret", "token", "sudo", "forge.example.com", "127.0.0.1", "http"} {
			assert.NotContains(t, string(decoded)+part, secret)
		}
	}
}

// FuzzCursor checks that a cursor is refused unless the package made it for this list.
func FuzzCursor(f *testing.F) {
	const list = "abcdefghijkl"
	for _, query := range []string{"", "page=2&per_page=100", "id_after=5&pagination=keyset", "a=%2B+%C3%BC"} {
		f.Add(string(newCursor(list, query)), query)
	}
	for _, s := range []string{"", "1", "..", "1.abcdefghijkl.", "1.abcdefghijkl.AAAA", "2.abcdefghijkl.done", "1.other.done"} {
		f.Add(s, "private_token=x")
	}
	f.Fuzz(func(t *testing.T, text, query string) {
		position, err := Cursor(text).query(list)
		var invalid *ValidationError
		switch {
		case err != nil:
			require.ErrorAs(t, err, &invalid)
			require.Equal(t, "StartAt", invalid.Option)
		case position == "":
			require.True(t, Cursor(text).Done())
		default:
			again, err := newCursor(list, position).query(list)
			require.NoError(t, err)
			require.Equal(t, position, again)
		}
		if made := newCursor(list, query); len(made) <= maxCursor {
			position, err = made.query(list)
			require.NoError(t, err)
			require.Equal(t, query, position)
			require.Equal(t, query == "", made.Done())
			_, err = made.query("another-list")
			require.ErrorAs(t, err, &invalid)
		}
	})
}
