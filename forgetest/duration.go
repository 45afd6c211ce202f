package forgetest

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Durations count working time: a day has 8 hours, a week 5 days, a month 4 weeks (Document 2
// §2.3).
const (
	secondsPerHour = 3600
	secondsPerDay  = 8 * secondsPerHour
	secondsPerWeek = 5 * secondsPerDay
)

func unitSeconds(unit string) (int64, bool) {
	switch unit {
	case "s":
		return 1, true
	case "m":
		return 60, true
	case "h":
		return secondsPerHour, true
	case "d":
		return secondsPerDay, true
	case "w":
		return secondsPerWeek, true
	case "mo":
		return 4 * secondsPerWeek, true
	}
	return 0, false
}

// parseDuration reads the human form, "1w 2d 3h30m" or "-1h", as seconds.
func parseDuration(s string) (seconds int64, valid bool) {
	s = strings.TrimSpace(s)
	body, negative := strings.CutPrefix(s, "-")
	body = strings.TrimPrefix(body, "+")
	if body == "" {
		return 0, false
	}
	for body = strings.TrimSpace(body); body != ""; body = strings.TrimSpace(body) {
		digits := len(body) - len(strings.TrimLeft(body, "0123456789"))
		n, err := strconv.ParseInt(body[:digits], 10, 32)
		body = strings.TrimLeft(body[digits:], " ")
		letters := len(body) - len(strings.TrimLeft(body, "abcdefghijklmnopqrstuvwxyz"))
		unit, known := unitSeconds(body[:letters])
		if err != nil || !known {
			return 0, false
		}
		seconds += n * unit
		body = body[letters:]
	}
	if negative {
		seconds = -seconds
	}
	return seconds, true
}

// humanDuration returns seconds in the human form; nil for 0.
func humanDuration(seconds int64) any {
	if seconds == 0 {
		return nil
	}
	sign := ""
	if seconds < 0 {
		sign, seconds = "-", -seconds
	}
	var parts []string
	for _, unit := range []string{"w", "d", "h", "m", "s"} {
		size, _ := unitSeconds(unit)
		if n := seconds / size; n > 0 {
			parts = append(parts, strconv.FormatInt(n, 10)+unit)
		}
		seconds %= size
	}
	return sign + strings.Join(parts, " ")
}

// ageUnits are the units of ages, in seconds: a month has 30 days, a year 365.25.
var ageUnits = map[string]float64{
	"s sec second": 1, "m min minute": 60, "h hr hour": 3600, "d dy day": 86400,
	"w wk week": 7 * 86400, "mo month": 30 * 86400, "y yr year": 31557600,
}

var agePart = regexp.MustCompile(`^([0-9]{1,18}(?:\.[0-9]+)?) ?([a-z]+)(?:,? and |, ?| |$)?`)

// parseAge parses an age as the deployed product does: numbers with units, written in full or
// abbreviated: "1h", "1month", "2 weeks 3d", "1 day and 30 minutes". An age of zero is invalid; one
// that overflows is the longest duration.
func parseAge(text string) (age time.Duration, valid bool) {
	seconds, rest := 0.0, strings.ToLower(strings.TrimSpace(text))
	for rest != "" {
		part := agePart.FindStringSubmatch(rest)
		if part == nil {
			return 0, false
		}
		n, _ := strconv.ParseFloat(part[1], 64)
		length := ageUnit(part[2])
		if length == 0 {
			return 0, false
		}
		seconds += n * length
		rest = rest[len(part[0]):]
	}
	age = time.Duration(min(seconds, math.MaxInt64/float64(time.Second)-1) * float64(time.Second))
	return age, age > 0
}

// ageUnit returns the length of a unit in seconds; 0 if there is none.
func ageUnit(name string) float64 {
	for names, length := range ageUnits {
		known := strings.Fields(names)
		if slices.Contains(known, name) || len(name) > 2 && slices.Contains(known, strings.TrimSuffix(name, "s")) {
			return length
		}
	}
	return 0
}
