package forge

import (
	"crypto/sha256"
	"encoding/base64"
	"net/url"
	"strings"
)

// Cursor is a place in a list, to be stored and given to StartAt later, by another process too. It names the first page that was
// not wholly consumed, so going on with it may repeat some items and never loses one. It holds the filters of the list and no
// credential and no host; it is short and URL-safe. The zero Cursor is the beginning.
type Cursor string

const (
	cursorVersion = "1"
	cursorDone    = "done"
	maxPosition   = 64 << 10             // bytes of the query of a page; few servers take more than 8 KiB
	maxCursor     = maxPosition*4/3 + 64 // bytes
)

// Done reports whether the list is finished: StartAt with this cursor yields nothing.
func (c Cursor) Done() bool { return strings.HasSuffix(string(c), "."+cursorDone) }

// newCursor names the page that query asks for, or the end of the list.
func newCursor(list, query string) Cursor {
	place := cursorDone
	if query != "" {
		place = base64.RawURLEncoding.EncodeToString([]byte(seal(query) + query))
	}
	return Cursor(cursorVersion + "." + list + "." + place)
}

// position gives the query that the cursor stands for; "" at the end of the list.
func (c Cursor) position(list string) (query string, err error) {
	refuse := func(reason string) (string, error) {
		return "", &ValidationError{Option: "StartAt", Reason: reason}
	}
	parts := strings.Split(string(c), ".")
	switch {
	case len(parts) != 3 || len(c) > maxCursor:
		return refuse("it is not a cursor")
	case parts[0] != cursorVersion:
		return refuse("the cursor was made by another version of the package: start over")
	case parts[1] != list:
		return refuse("the cursor belongs to another list: the endpoint, its path arguments and its filters must be those it was made with")
	case parts[2] == cursorDone:
		return "", nil
	}
	data, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || len(data) <= sealSize || seal(string(data[sealSize:])) != string(data[:sealSize]) {
		return refuse("the cursor is damaged")
	}
	return string(data[sealSize:]), nil
}

const sealSize = 3

// seal tells a cursor that was cut or altered on its way through a store: one that skipped rows would do so silently.
func seal(query string) string {
	sum := sha256.Sum256([]byte(query))
	return string(sum[:sealSize])
}

// listKey tells lists apart: route, path arguments and filters, but not the size of a page.
func listKey(r *request, filters url.Values) string {
	own := url.Values{}
	for name, values := range filters {
		if name != "per_page" && name != "page" && name != "pagination" {
			own[name] = values
		}
	}
	sum := sha256.Sum256([]byte(r.route.method + " " + r.route.template + "\n" + r.path + "\n" + own.Encode()))
	return base64.RawURLEncoding.EncodeToString(sum[:9])
}
