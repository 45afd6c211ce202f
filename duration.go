package forge

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/forge-sdk/forge-go/internal/safetext"
)

// WorkDuration is working time in time tracking, to the second. It parses days and weeks, whose
// length depends on the server's settings, but writes only hours, minutes and seconds, so that a
// value means the same on every server. Negative values subtract time.
type WorkDuration time.Duration

// ParseWorkDuration parses the human form: numbers with the units mo, w, d, h, m and s, with or
// without spaces, after an optional minus sign that applies to all of them: "1w 2d 3h30m", "-45m".
// A day has 8 hours, a week 5 days and a month 4 weeks, as on a server with default settings.
func ParseWorkDuration(s string) (WorkDuration, error) {
	rest, negative := strings.CutPrefix(strings.TrimSpace(s), "-")
	total, ok := sumOfUnits(strings.TrimSpace(rest), workUnit)
	if !ok {
		return 0, fmt.Errorf("forge: %q is not a duration of the form 1w 2d 3h30m", safetext.Clean(s, 64))
	}
	if negative {
		total = -total
	}
	return WorkDuration(total), nil
}

// sumOfUnits adds numbers with units, between which there may be spaces. It returns false for any
// other text, and for a sum that is too large.
func sumOfUnits(s string, unitOf func(word string) time.Duration) (total time.Duration, ok bool) {
	for ok = s != ""; ok && s != ""; {
		digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
		word := strings.TrimLeft(s[digits:], " ")
		letters := len(word) - len(strings.TrimLeft(word, "abcdefghijklmnopqrstuvwxyz"))
		n, err := strconv.ParseInt(s[:digits], 10, 64)
		unit := unitOf(word[:letters])
		ok = err == nil && unit > 0 && n <= int64((math.MaxInt64-total)/unit)
		total += time.Duration(n) * unit
		s = strings.TrimLeft(word[letters:], " ")
	}
	return total, ok
}

func workUnit(name string) time.Duration {
	const day = 8 * time.Hour
	switch name {
	case "mo":
		return 20 * day
	case "w":
		return 5 * day
	case "d":
		return day
	case "h":
		return time.Hour
	case "m":
		return time.Minute
	case "s":
		return time.Second
	}
	return 0
}

// String returns hours, minutes and seconds: "3h30m". Zero is "0m".
func (d WorkDuration) String() string {
	seconds := int64(time.Duration(d) / time.Second)
	if seconds == 0 {
		return "0m"
	}
	var b strings.Builder
	if seconds < 0 {
		b.WriteByte('-')
		seconds = -seconds
	}
	for _, part := range []struct {
		n    int64
		unit string
	}{{seconds / 3600, "h"}, {seconds / 60 % 60, "m"}, {seconds % 60, "s"}} {
		if part.n != 0 {
			fmt.Fprintf(&b, "%d%s", part.n, part.unit)
		}
	}
	return b.String()
}

// checkDuration rejects a duration that would be sent as zero. reset is the call for that.
func checkDuration(d WorkDuration, reset string) error {
	switch {
	case d == 0:
		return &ValidationError{Param: "duration", Reason: "it is required, and zero is not a duration: " + reset}
	case time.Duration(d).Abs() < time.Second:
		return &ValidationError{Param: "duration", Reason: "it is less than a second: multiply by a unit, as in forge.WorkDuration(30 * time.Minute)"}
	}
	return nil
}

// MarshalJSON writes the duration as String does.
func (d WorkDuration) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// UnmarshalJSON parses the human form; null is zero.
func (d *WorkDuration) UnmarshalJSON(data []byte) error {
	var s *string
	if err := readJSON(data, &s); err != nil {
		return err
	}
	if s == nil {
		*d = 0
		return nil
	}
	parsed, err := ParseWorkDuration(*s)
	if err == nil {
		*d = parsed
	}
	return err
}

// Age is a minimum age, in the human form of the API: "1h", "30d", "1month", or
// several together. Units are h, d, w, mo and y, or in full.
type Age string

// duration returns the length as servers count it: a month has 30 days, and a year 365.25. The form
// is numbers with the units hour, day, week, month and year, in full, in the plural, or as h, d, w,
// mo and y. It rejects m, which may mean minutes or months.
func (a Age) duration() (time.Duration, error) {
	total, ok := sumOfUnits(strings.TrimSpace(string(a)), ageUnit)
	switch {
	case !ok:
		return 0, a.invalid()
	case total == 0:
		return 0, errors.New("forge: it is zero: leave OlderThan empty for any age")
	}
	return total, nil
}

func (a Age) invalid() error {
	remedy := ""
	if d, _ := time.ParseDuration(string(a)); d >= time.Hour && d%time.Hour == 0 {
		remedy = fmt.Sprintf(": use \"%dh\"", d/time.Hour)
	}
	return fmt.Errorf("forge: %q is not an age of the form 1h, 1d or 1month%s", safetext.Clean(string(a), 64), remedy)
}

func ageUnit(word string) time.Duration {
	const day = 24 * time.Hour
	switch strings.TrimSuffix(word, "s") {
	case "h", "hour":
		return time.Hour
	case "d", "day":
		return day
	case "w", "week":
		return 7 * day
	case "mo", "month":
		return 30 * day
	case "y", "year":
		return 365*day + 6*time.Hour
	}
	return 0
}
