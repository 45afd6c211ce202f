package forge

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Age is how old something must be, in the human form that the API takes (Document 1 §4.1.1): "1h", "1d", "1month", or several
// together. Days, weeks and months make one of a number.
type Age string

// Hours is an age of n hours.
func Hours(n int) Age { return Age(strconv.Itoa(n) + "h") }

// Days is an age of n days.
func Days(n int) Age { return Age(strconv.Itoa(n) + "d") }

// Months is an age of n months, which servers count as 30 days each.
func Months(n int) Age { return Age(strconv.Itoa(n) + "month") }

// ParseAge reads the human form: numbers with the units hour, day, week, month and year, in full, in the plural, or as h, d, w, mo
// and y. It refuses m, which some read as minutes and others as months.
func ParseAge(s string) (Age, error) {
	_, err := Age(s).Duration()
	if err != nil {
		return "", err
	}
	return Age(strings.TrimSpace(s)), nil
}

// Duration is the length as servers count it: a month has 30 days, and a year 365.25.
func (a Age) Duration() (time.Duration, error) {
	rest := strings.TrimSpace(string(a))
	var total time.Duration
	for rest != "" {
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		word := strings.TrimLeft(rest[digits:], " ")
		letters := len(word) - len(strings.TrimLeft(word, "abcdefghijklmnopqrstuvwxyz"))
		n, err := strconv.ParseInt(rest[:digits], 10, 32)
		unit := ageUnit(word[:letters])
		if err != nil || unit == 0 || n > int64((math.MaxInt64-total)/unit) {
			return 0, a.invalid()
		}
		total += time.Duration(n) * unit
		rest = strings.TrimLeft(word[letters:], " ")
	}
	if total == 0 {
		return 0, a.invalid()
	}
	return total, nil
}

func (a Age) invalid() error {
	return fmt.Errorf("forge: %q is not an age of the form 1h, 1d or 1month", cleanText(string(a), 64))
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
