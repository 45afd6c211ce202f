package forgetest

import (
	"strconv"
	"strings"
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
