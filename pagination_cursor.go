package forge

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

// Cursor is a position in a list. It can be stored and passed to StartAt later, also by another
// process. It names the first page that was not consumed completely, so a list that resumes there
// may yield some items again. A keyset list omits none. A list by offset omits those that moved to
// an earlier page because others left the list between the runs. A Cursor contains the filters of
// the list, and no credential or host. It is short and URL-safe. The zero Cursor is the beginning.
type Cursor string

const (
	cursorVersion = "1"
	cursorDone    = "done"
	maxPosition   = 64 << 10             // bytes of the query of a page
	maxCursor     = maxPosition*4/3 + 64 // bytes
)

// Done reports whether the list is finished: StartAt with this cursor yields nothing.
func (c Cursor) Done() bool { return strings.HasSuffix(string(c), "."+cursorDone) }

// newCursor returns the cursor of the page that query requests, or of the end if query is empty.
func newCursor(list, query string) Cursor {
	place := cursorDone
	if query != "" {
		place = base64.RawURLEncoding.EncodeToString([]byte(cursorChecksum(query) + query))
	}
	return Cursor(cursorVersion + "." + list + "." + place)
}

// query returns the query of the page that the cursor names; "" at the end of the list.
func (c Cursor) query(list string) (query string, err error) {
	invalid := func(reason string) (string, error) {
		return "", &ValidationError{Option: "StartAt", Reason: reason}
	}
	parts := strings.Split(string(c), ".")
	switch {
	case len(parts) != 3 || len(c) > maxCursor:
		return invalid("it is not a cursor: use Response.Cursor of an earlier list")
	case parts[0] != cursorVersion:
		return invalid("the cursor was made by another version of the package: start over")
	case parts[1] != list:
		return invalid("the cursor belongs to another list: the endpoint, its path arguments and its filters must be those it was made with")
	case parts[2] == cursorDone:
		return "", nil
	}
	data, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || len(data) <= cursorChecksumSize || cursorChecksum(string(data[cursorChecksumSize:])) != string(data[:cursorChecksumSize]) {
		return invalid("the cursor is damaged")
	}
	return string(data[cursorChecksumSize:]), nil
}

const cursorChecksumSize = 3

// cursorChecksum detects a cursor that was truncated or altered in a store. Such a cursor could
// omit items silently.
func cursorChecksum(query string) string {
	sum := sha256.Sum256([]byte(query))
	return string(sum[:cursorChecksumSize])
}
