package forge

import (
	"encoding/json"
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

// diffsJSON returns n complete diffs.
func diffsJSON(n int) string {
	return strings.Join(slices.Repeat([]string{`{"old_path":"a","new_path":"a","a_mode":"100644","b_mode":"100644","diff":"@@"}`}, n), ",")
}

// TestIncomplete checks that each sign of truncation is reported, and nothing else.
func TestIncomplete(t *testing.T) {
	const unchanged = `"old_path":"b","new_path":"b","a_mode":"100644","b_mode":"100644","diff":""`
	diffs := map[string]bool{ // in a list of diffs
		`[` + diffsJSON(1) + `]`: false, `[]`: false, `null`: false,
		`[` + diffsJSON(1) + `,{"new_path":"b","collapsed":true}]`:          true,
		`[{"new_path":"b","diff":"","deleted_file":true,"too_large":true}]`: true,
		`[{` + unchanged + `}]`: true,
		`[{"old_path":"b","new_path":"b","a_mode":"100644","b_mode":"100755","diff":""}]`: false,
		`[{"old_path":"b","new_path":"b","diff":"","new_file":true}]`:                     false,
		`[{"old_path":"b","new_path":"b","diff":"","deleted_file":true}]`:                 false,
		`[{"old_path":"a","new_path":"b","diff":""}]`:                                     false,
	}
	counts := []struct { // next to them
		count string
		diffs int
		want  bool
	}{
		{`"2"`, 2, false}, {`"2"`, 3, false}, {`"3"`, 2, true}, {`"3"`, 0, true}, {`"2+"`, 2, true}, {`"2+"`, 3, false}, {`"1000+"`, 2, true},
		{`null`, 2, false}, {`""`, 2, false}, {`"many"`, 2, false}, {`"many+"`, 0, false}, {`"+"`, 0, false}, {`"0+"`, 0, true},
	}
	for _, form := range []struct {
		key, count string
		read       interface{ Incomplete() bool }
	}{{"changes", "changes_count", new(MergeRequestChanges)}, {"diffs", "real_size", new(DiffVersion)}, {"diffs", "", new(Comparison)}} {
		assertIncomplete := func(want bool, text string) {
			t.Helper()
			require.NoError(t, json.Unmarshal([]byte(text), form.read))
			assert.Equal(t, want, form.read.Incomplete(), "%T %s", form.read, text)
		}
		for list, want := range diffs {
			assertIncomplete(want, `{"`+form.key+`":`+list+`}`)
		}
		for _, row := range counts {
			assertIncomplete(row.want && form.count != "", fmt.Sprintf(`{"%s":%s,"%s":[%s]}`, form.count, row.count, form.key, diffsJSON(row.diffs)))
		}
		assertIncomplete(false, `{"`+form.count+`":"1000+"}`)
		assertIncomplete(form.key == "changes", `{"overflow":true}`)
		assertIncomplete(form.count == "", `{"compare_timeout":true}`)
	}
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
		{"PerPage", "", PerPage(5), kindList},
		{"StartAt", "", StartAt("x"), kindList},
		{"Ahead", "", Ahead(2), kindList},
		{"Since", "", Since(""), kindList},
		{"Overlap", "", Overlap(time.Hour), none},
		{"Overlap", "", Overlap(time.Second - 1), none},
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
		{"Checksum", "", Checksum("sha256:" + strings.Repeat("a", 64)), none},
		{"Checksum", "", Checksum(strings.Repeat("a", 62)), none},
		{"Checksum", "", Checksum(strings.Repeat("a", 66)), none},
		{"Checksum", "", Checksum(strings.Repeat("a", 64) + "zz"), none},
		{"Checksum", "", Checksum(strings.Repeat("a", 64)), kindStream},
		{"Timeout", "", Timeout(time.Microsecond), none},
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
			if test.fits == none {
				assert.Equal(t, test.param, invalid.Param)
			}
		}
	}
	_, err := wireClient(t, newWire(t, always(silent(""))).url).Issues.GetTimeStats(ctx, ID(1), 1, Timeout(time.Millisecond))
	require.ErrorIs(t, err, ErrTimeout, "the shortest limit")
}
