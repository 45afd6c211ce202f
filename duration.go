package forge

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"
)

// WorkDuration is working time as time tracking counts it (Document 2 §2.3), to the second. It reads
// days and weeks, whose length depends on the server's settings, but writes hours, minutes and seconds only,
// so that what is sent means the same on every server. Negative values take time back.
type WorkDuration time.Duration

// WorkCalendar says how long a working day and a working week are. The zero calendar is the
// server's default: 8 hours and 5 days. A month is four weeks.
type WorkCalendar struct {
	// HoursPerDay is the length of a day in hours; 0 means 8.
	HoursPerDay int
	// DaysPerWeek is the length of a week in days; 0 means 5.
	DaysPerWeek int
}

// ParseWorkDuration reads the human form with days of 8 hours and weeks of 5 days: "1w 2d 3h30m", "-45m".
func ParseWorkDuration(s string) (WorkDuration, error) { return WorkCalendar{}.Parse(s) }

// Parse reads the human form: numbers with the units mo, w, d, h, m and s, with or without spaces,
// after an optional minus sign that holds for all of them.
func (c WorkCalendar) Parse(s string) (WorkDuration, error) {
	rest, negative := strings.CutPrefix(strings.TrimSpace(s), "-")
	var total time.Duration
	if c.HoursPerDay < 0 || c.HoursPerDay > 24 || c.DaysPerWeek < 0 || c.DaysPerWeek > 7 {
		return 0, fmt.Errorf("forge: no calendar has %d days of %d hours", c.DaysPerWeek, c.HoursPerDay)
	}
	if strings.TrimSpace(rest) == "" {
		return 0, badDuration(s)
	}
	for rest = strings.TrimSpace(rest); rest != ""; rest = strings.TrimLeft(rest, " ") {
		n, unit, tail, ok := c.next(rest)
		if !ok || n > int64((math.MaxInt64-total)/unit) {
			return 0, badDuration(s)
		}
		total += time.Duration(n) * unit
		rest = tail
	}
	if negative {
		total = -total
	}
	return WorkDuration(total), nil
}

// next cuts one number and its unit off s.
func (c WorkCalendar) next(s string) (n int64, unit time.Duration, rest string, ok bool) {
	digits := 0
	for digits < len(s) && s[digits] >= '0' && s[digits] <= '9' {
		n = n*10 + int64(s[digits]-'0')
		if digits++; digits > 15 {
			return 0, 0, "", false
		}
	}
	rest = strings.TrimLeft(s[digits:], " ")
	letters := 0
	for letters < len(rest) && rest[letters] >= 'a' && rest[letters] <= 'z' {
		letters++
	}
	unit = c.unit(rest[:letters])
	return n, unit, rest[letters:], digits > 0 && unit > 0
}

func (c WorkCalendar) unit(name string) time.Duration {
	day := time.Duration(orDefault(c.HoursPerDay, 8)) * time.Hour
	week := time.Duration(orDefault(c.DaysPerWeek, 5)) * day
	switch name {
	case "mo":
		return 4 * week
	case "w":
		return week
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

func badDuration(s string) error {
	return fmt.Errorf("forge: %q is not a duration of the form 1w 2d 3h30m", cleanText(s, 64))
}

// orDefault gives value, or what stands for it when it is zero.
func orDefault[T comparable](value, standard T) T {
	var zero T
	if value == zero {
		return standard
	}
	return value
}

// String writes hours, minutes and seconds: "3h30m". Zero is "0m".
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

// MarshalJSON writes the duration as String does.
func (d WorkDuration) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// UnmarshalJSON reads the human form; null is zero.
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
