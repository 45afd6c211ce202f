package forge

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// This file has the table of the result of a call for each status. TestStatuses compares the client
// with it, and docs/errors-and-retries.md contains it.

// statusEnd is how a call ends.
type statusEnd string

const (
	endNone      statusEnd = ""
	endWell      statusEnd = "success"
	endUnchanged statusEnd = "unchanged"
	endError     statusEnd = "error"
	endOpen      statusEnd = "error, `MaybeApplied`"
	endRetried   statusEnd = "retried"
	endRetryOpen statusEnd = "retried, `MaybeApplied`"
)

// statusCase is a special case of the response or of the call.
type statusCase string

const (
	whenPlain      statusCase = ""
	whenInterim    statusCase = "followed by a final 200"
	whenSilent     statusCase = "followed by silence"
	whenNoValue    statusCase = "the method returns no value"
	whenValue      statusCase = "the method returns a value"
	whenRange      statusCase = "the caller set `Range`"
	whenSameOrigin statusCase = "to the same origin"
	whenCondition  statusCase = "the caller set a condition"
	whenDocumented statusCase = "the route documents it"
	whenLocked     statusCase = "the message is \"Resource lock\""
)

// extra reports whether another row describes the same status without the special case.
func (c statusCase) extra() bool {
	return c == whenSilent || c == whenRange || c == whenCondition || c == whenLocked
}

// statusRow is a row of the table. is is the sentinel of the error. Errors of the OAuth token
// endpoint always have ErrNoCredential instead.
type statusRow struct {
	statuses                      string
	when                          statusCase
	is                            error
	read, idempotent, once, oauth statusEnd
}

var statusTable = []statusRow{
	{"100, 102-199", whenInterim, nil, endWell, endWell, endWell, endWell},
	{"100, 102-199", whenSilent, ErrTimeout, endRetried, endRetryOpen, endOpen, endNone},
	{"101", whenPlain, ErrInvalidResponse, endError, endOpen, endOpen, endError},
	{"200", whenPlain, nil, endWell, endWell, endWell, endWell},
	{"201, 202", whenPlain, ErrInvalidResponse, endError, endWell, endWell, endWell},
	{"204", whenNoValue, nil, endNone, endWell, endWell, endNone},
	{"204", whenValue, ErrInvalidResponse, endError, endOpen, endOpen, endError},
	{"206", whenRange, nil, endWell, endNone, endNone, endNone},
	{"203, 205-299", whenPlain, ErrInvalidResponse, endError, endOpen, endOpen, endError},
	{"301, 302, 307, 308", whenSameOrigin, nil, endWell, endWell, endWell, endError},
	{"303", whenSameOrigin, ErrRedirect, endWell, endOpen, endOpen, endError},
	{"304", whenCondition, nil, endUnchanged, endNone, endNone, endNone},
	{"304", whenDocumented, nil, endNone, endUnchanged, endNone, endNone},
	{"304", whenPlain, ErrInvalidResponse, endError, endOpen, endOpen, endError},
	{"300, 305, 306, 309-399", whenPlain, ErrInvalidResponse, endError, endOpen, endOpen, endError},
	{"400", whenPlain, ErrBadRequest, endError, endError, endError, endError},
	{"401", whenPlain, ErrUnauthorized, endError, endError, endError, endError},
	{"403", whenPlain, ErrForbidden, endError, endError, endError, endError},
	{"404", whenPlain, ErrNotFound, endError, endError, endError, endError},
	{"409", whenPlain, ErrConflict, endError, endError, endError, endError},
	{"409", whenLocked, ErrConflict, endRetried, endRetried, endRetried, endRetried},
	{"414", whenPlain, ErrURITooLong, endError, endError, endError, endError},
	{"422", whenPlain, ErrUnprocessable, endError, endError, endError, endError},
	{"408", whenPlain, nil, endRetried, endRetryOpen, endOpen, endRetried},
	{"425", whenPlain, nil, endRetried, endRetried, endRetried, endRetried},
	{"429", whenPlain, ErrRateLimited, endRetried, endRetried, endRetried, endRetried},
	{
		"402, 405-407, 410-413, 415-421, 423, 424, 426-428, 430-499", whenPlain, nil,
		endError, endError, endError, endError,
	},
	{"500, 502-504, 520-527, 530", whenPlain, ErrServer, endRetried, endRetryOpen, endOpen, endRetried},
	{"501, 505-519, 528, 529, 531-599", whenPlain, ErrServer, endError, endOpen, endOpen, endError},
}

// some returns the single statuses of the row, the limits of its ranges, and every sixth status
// between them, which are others for each kind of call.
func (r statusRow) some(t *testing.T, kind int) []int {
	t.Helper()
	all := r.list(t)
	if longForm() {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(status int) bool {
		inside := slices.Contains(all, status-1) && slices.Contains(all, status+1)
		return inside && (status+kind)%6 != 0
	})
}

// list returns the statuses of the row.
func (r statusRow) list(t *testing.T) (all []int) {
	t.Helper()
	for part := range strings.SplitSeq(r.statuses, ", ") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, err := strconv.Atoi(first)
		require.NoError(t, err)
		to, err := strconv.Atoi(last)
		require.NoError(t, err)
		for status := from; status <= to; status++ {
			all = append(all, status)
		}
	}
	return all
}

// statusDocument returns the table as Markdown.
func statusDocument() string {
	var b strings.Builder
	b.WriteString("| status | where | error | GET, registry token | PUT, DELETE, idempotent POST " +
		"| other POST, upload, bulk tag deletion | OAuth token |\n|---|---|---|---|---|---|---|\n")
	for _, r := range statusTable {
		name := ""
		if r.is != nil {
			name = "`forge." + sentinelName(r.is) + "`"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |\n",
			r.statuses, r.when, name, r.read, r.idempotent, r.once, r.oauth)
	}
	return b.String()
}

// statusSentinels are the sentinels of errors that a status can cause.
var statusSentinels = []struct {
	name string
	err  error
}{
	{"ErrNotModified", ErrNotModified}, {"ErrBadRequest", ErrBadRequest},
	{"ErrUnauthorized", ErrUnauthorized}, {"ErrForbidden", ErrForbidden},
	{"ErrNotFound", ErrNotFound}, {"ErrConflict", ErrConflict},
	{"ErrURITooLong", ErrURITooLong}, {"ErrUnprocessable", ErrUnprocessable},
	{"ErrRateLimited", ErrRateLimited}, {"ErrServer", ErrServer}, {"ErrTimeout", ErrTimeout},
	{"ErrRedirect", ErrRedirect}, {"ErrInvalidResponse", ErrInvalidResponse}, {"ErrNoCredential", ErrNoCredential},
}

func sentinelName(err error) string {
	for _, s := range statusSentinels {
		if s.err == err { //nolint:errorlint // sentinels are constants
			return s.name
		}
	}
	return "?"
}

const (
	statusBegin = "<!-- statuses: made by FORGE_UPDATE=1 go test -run '^TestStatusDocument$' . -->\n\n"
	statusEnds  = "\n<!-- end of statuses -->\n"
)

// The guide contains exactly the table that TestStatuses checks. FORGE_UPDATE=1 writes the table
// into the guide.
func TestStatusDocument(t *testing.T) {
	const guide = "docs/errors-and-retries.md"
	text, err := os.ReadFile(guide)
	require.NoError(t, err)
	before, rest, begins := strings.Cut(string(text), statusBegin)
	printed, after, ends := strings.Cut(rest, statusEnds)
	require.True(t, begins && ends, "%s has no markers for the table", guide)
	if os.Getenv("FORGE_UPDATE") != "" {
		whole := bytes.NewBufferString(before + statusBegin + statusDocument() + statusEnds + after)
		require.NoError(t, os.WriteFile(guide, whole.Bytes(), 0o644))
		return
	}
	assert.Equal(t, statusDocument(), printed, "write it with FORGE_UPDATE=1")
}

// Each status has exactly one row for each kind of call, in addition to the rows of special cases.
func TestStatusTableIsComplete(t *testing.T) {
	for _, kind := range statusKinds() {
		rows := map[int]int{}
		for _, row := range statusTable {
			if !row.when.extra() && kind.end(row) != endNone && !kind.special(row) {
				for _, status := range row.list(t) {
					rows[status]++
				}
			}
		}
		for status := 100; status < 600; status++ {
			assert.Equal(t, 1, rows[status], "%s: rows of %d", kind.name, status)
		}
	}
}
