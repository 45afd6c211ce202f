package forge

import (
	"errors"
	"strings"
	"time"
)

// timeLayout is the form of times that are sent: in UTC, with milliseconds, as in responses.
const timeLayout = "2006-01-02T15:04:05.000Z"

var errNoTime = errors.New("it is outside the years 0 to 9999, the range of RFC 3339")

// writeTime formats a time in UTC, with the precision of the layout. An upper bound is rounded up
// and every other time down, so that a bound includes the item that it was taken from.
func writeTime(t time.Time, layout, key string) (string, error) {
	unit := time.Second
	if strings.Contains(layout, ".000") {
		unit = time.Millisecond
	}
	rounded := t.UTC().Truncate(unit)
	if strings.HasSuffix(key, "_before") && rounded.Before(t) {
		rounded = rounded.Add(unit)
	}
	if year := rounded.Year(); year < 0 || year > 9999 {
		return "", errNoTime
	}
	return rounded.Format(layout), nil
}
