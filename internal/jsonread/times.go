package jsonread

import (
	"bytes"
	"time"
)

// Time reads a timestamp; the empty string is the zero time. In addition to RFC 3339 it reads the
// forms that servers write instead: a space instead of the T, a comma instead of the point, an
// offset with hours only or without a colon, no offset for UTC, lower-case letters, UTC instead of
// Z, and a date alone for midnight in UTC. Digits beyond nanoseconds are dropped, which is recorded
// as a mismatch.
func Time(v *time.Time, r *Reader) bool {
	*v = time.Time{}
	raw, ok := r.text("timestamp")
	if len(raw) == 0 {
		return ok
	}
	if *v, ok = r.parseTime(raw); ok && len(raw) <= len("2006-01-02T15:04:05.999999999Z") {
		return true
	}
	t, cut, ok := r.anyTime(raw)
	if !ok || cut {
		r.Note("timestamp", "string")
	}
	*v = t
	return ok
}

// Date reads a day of the form YYYY-MM-DD; the empty string and null are zeros. It reads the day of
// a timestamp as written, and records a mismatch.
func (r *Reader) Date() (year, month, day int, ok bool) {
	raw, ok := r.text("date")
	if len(raw) == 0 {
		return 0, 0, 0, ok
	}
	year, month, day, ok = parseDate(raw)
	switch {
	case ok && len(raw) == len(time.DateOnly):
		return year, month, day, true
	case ok:
		_, _, ok = r.anyTime(raw)
	}
	r.Note("date", "string")
	if !ok {
		return 0, 0, 0, false
	}
	return year, month, day, true
}

// parseDate parses the day at the front of raw.
func parseDate(raw []byte) (year, month, day int, ok bool) {
	if len(raw) < len(time.DateOnly) || raw[4] != '-' || raw[7] != '-' {
		return 0, 0, 0, false
	}
	century, okC := twoDigits(raw)
	years, okY := twoDigits(raw[2:])
	month, okM := twoDigits(raw[5:])
	day, okD := twoDigits(raw[8:])
	year = century*100 + years
	return year, month, day, okC && okY && okM && okD && month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month)
}

func daysIn(year, month int) int {
	return time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// twoDigits parses the first two bytes.
func twoDigits(raw []byte) (int, bool) {
	a, b := raw[0]-'0', raw[1]-'0'
	return int(a)*10 + int(b), a <= 9 && b <= 9
}

// anyTime parses a timestamp of any of the known forms. The second result reports whether digits
// were lost.
func (r *Reader) anyTime(raw []byte) (t time.Time, cut, ok bool) {
	if t, ok = r.parseTime(raw); !ok {
		var plain [64]byte
		if raw = rfc3339(plain[:0], raw); raw == nil {
			return time.Time{}, false, false
		}
		t, ok = r.parseTime(raw)
	}
	return t, isCut(raw), ok
}

// rfc3339 appends the timestamp in the form of RFC 3339 to out. It returns nil for a text that does
// not resemble a timestamp.
func rfc3339(out, raw []byte) []byte {
	const date, seconds = len("2006-01-02"), len("2006-01-02T15:04:05")
	if len(raw) == date {
		return append(append(out, raw...), "T00:00:00Z"...)
	}
	if len(raw) < seconds || raw[date]|0x20 != 't' && raw[date] != ' ' {
		return nil
	}
	out = append(append(append(out, raw[:date]...), 'T'), raw[date+1:seconds]...)
	zone := raw[seconds:]
	if len(zone) > 0 && (zone[0] == '.' || zone[0] == ',') {
		end, _ := digits(zone, 1)
		out = append(append(out, '.'), zone[1:end]...)
		zone = zone[end:]
	}
	if len(zone) > 1 && zone[0] == ' ' {
		zone = zone[1:]
	}
	switch n := len(zone); {
	case n == 0 || string(zone) == "z" || string(zone) == "UTC":
		return append(out, 'Z')
	case n == len("+02"):
		return append(append(out, zone...), ":00"...)
	case n == len("+0200"):
		return append(append(append(out, zone[:3]...), ':'), zone[3:]...)
	}
	return append(out, zone...)
}

// isCut reports whether an RFC 3339 timestamp has digits beyond its nanoseconds.
func isCut(timestamp []byte) bool {
	const point, nanoseconds = len("2006-01-02T15:04:05"), len("2006-01-02T15:04:05.999999999")
	if len(timestamp) <= nanoseconds+1 {
		return false
	}
	end, _ := digits(timestamp, point+1)
	return end > nanoseconds && len(bytes.Trim(timestamp[nanoseconds:end], "0")) > 0
}

// parseTime parses an RFC 3339 timestamp with package time, which does not allocate for a time in
// UTC. An offset is removed before and applied after, so that consecutive equal offsets share one
// zone.
func (r *Reader) parseTime(raw []byte) (t time.Time, ok bool) {
	var utc [64]byte
	n := len(raw)
	if shift, known := offset(raw); known && n <= len(utc) {
		if t.UnmarshalText(append(append(utc[:0], raw[:n-6]...), 'Z')) != nil {
			return time.Time{}, false
		}
		if r.zone == nil || r.shift != shift {
			r.zone, r.shift = time.FixedZone("", shift), shift
		}
		return t.Add(-time.Duration(shift) * time.Second).In(r.zone), true
	}
	err := t.UnmarshalText(raw)
	return t, err == nil
}

// offset returns the seconds of an ordinary offset at the end of a timestamp.
func offset(raw []byte) (seconds int, ok bool) {
	n := len(raw)
	if n < 6 || raw[n-3] != ':' || raw[n-6] != '+' && raw[n-6] != '-' {
		return 0, false
	}
	hours, okH := twoDigits(raw[n-5:])
	minutes, okM := twoDigits(raw[n-2:])
	seconds = hours*3600 + minutes*60
	if raw[n-6] == '-' {
		seconds = -seconds
	}
	return seconds, okH && okM && hours < 24 && minutes < 60
}
