package jsonread

import (
	"bytes"
	"time"
)

// Time reads a timestamp; the empty string is the zero time. Beside RFC 3339 it reads what servers write in place of
// it: a space for the T, a comma for the point, an offset of hours only or without a colon, no offset for UTC, lower-case
// letters, UTC for Z, and a date for its midnight in UTC. Digits beyond the nanoseconds are cut off and noted.
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
		r.Note("", "timestamp", "string")
	}
	*v = t
	return ok
}

// Date reads a day of the form YYYY-MM-DD; the empty string is zeros, as null is. Of a timestamp it reads the day as it
// is written, and notes it.
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
	r.Note("", "date", "string")
	if !ok {
		return 0, 0, 0, false
	}
	return year, month, day, true
}

// parseDate reads the day at the front of raw.
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

// twoDigits reads the first two bytes.
func twoDigits(raw []byte) (int, bool) {
	a, b := raw[0]-'0', raw[1]-'0'
	return int(a)*10 + int(b), a <= 9 && b <= 9
}

// anyTime reads a timestamp of any of the known forms. cut says that digits of it are lost.
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

// rfc3339 appends to out the timestamp as RFC 3339 writes it. It is nil for a text that is not like a timestamp.
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

// parseTime leaves the calendar to package time, which reads a time in UTC without allocating. An offset is cut off before
// and its zone put on after, so that a run of equal offsets makes one zone.
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

// offset gives the seconds of an ordinary offset at the end of a timestamp.
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
