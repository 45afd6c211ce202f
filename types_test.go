package forge

import (
	"encoding/json"
	"math"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDate(t *testing.T) {
	for text, want := range map[string]Date{
		"2026-01-02": {2026, time.January, 2},
		"2024-02-29": {2024, time.February, 29},
		"0001-01-01": {1, time.January, 1},
		"9999-12-31": {9999, time.December, 31},
	} {
		got, err := ParseDate(text)
		require.NoError(t, err)
		assert.Equal(t, want, got)
		assert.Equal(t, text, got.String())
		var read Date
		data, err := json.Marshal(got)
		require.NoError(t, err)
		assert.Equal(t, `"`+text+`"`, string(data))
		require.NoError(t, json.Unmarshal(data, &read))
		assert.Equal(t, got, read)
		values := url.Values{}
		require.NoError(t, got.EncodeValues("d", &values))
		assert.Equal(t, text, values.Get("d"))
	}
	for _, text := range []string{"", " ", "2026-1-2", "2026-02-30", "2025-02-29", "2026-13-01", "2026-00-01", "2026-01-00", "26-01-02", "2026/01/02", "2026-01-02T00:00:00Z", " 2026-01-02", "-2026-01-02", "20260102", "2026-01-02\x00"} {
		_, err := ParseDate(text)
		require.Error(t, err, text)
		assert.NotContains(t, err.Error(), "\x00")
	}
	zero := Date{2026, 1, 1}
	for _, data := range []string{"null", `""`} {
		d := zero
		require.NoError(t, json.Unmarshal([]byte(data), &d))
		assert.True(t, d.IsZero(), data)
	}
	for _, data := range []string{"5", "true", "{}", "[]", `"tomorrow"`} {
		d := zero
		require.Error(t, json.Unmarshal([]byte(data), &d), data)
		assert.Equal(t, zero, d, "a failure does not change the value")
	}
	assert.Empty(t, Date{}.String())
	data, err := json.Marshal(struct {
		A Date `json:"a"`
		B Date `json:"b,omitzero"`
	}{})
	require.NoError(t, err)
	assert.JSONEq(t, `{"a":null}`, string(data))

	berlin := time.FixedZone("", 3600)
	evening := time.Date(2026, 3, 1, 23, 30, 0, 0, time.UTC)
	assert.Equal(t, Date{2026, 3, 1}, dateOf(evening))
	assert.Equal(t, Date{2026, 3, 2}, dateOf(evening.In(berlin)), "the day in the time zone of t")
	assert.Equal(t, time.Date(2026, 3, 2, 0, 0, 0, 0, berlin), Date{2026, 3, 2}.In(berlin))
	assert.True(t, Date{2026, 2, 28}.Before(Date{2026, 3, 1}))
	assert.False(t, Date{2026, 3, 1}.Before(Date{2026, 3, 1}))
}

// Each unit is known in full, in the plural and in its short forms, and m is not.
func TestAgeUnits(t *testing.T) {
	const day = 24 * time.Hour
	for words, want := range map[string]time.Duration{"h hour": time.Hour, "d day": day, "w week": 7 * day, "mo month": 30 * day, "y year": 365*day + 6*time.Hour} {
		for word := range strings.FieldsSeq(words) {
			for _, text := range []string{"2" + word, " 2 " + word + "s ", "1" + word + "1 " + word, "1" + word + " 1" + word} {
				got, err := Age(text).duration()
				require.NoError(t, err, text)
				assert.Equal(t, 2*want, got, text)
			}
			_, err := Age("2" + word + "x").duration()
			require.Error(t, err, word)
		}
	}
	_, err := Age("1h30m").duration()
	require.EqualError(t, err, `forge: "1h30m" is not an age of the form 1h, 1d or 1month`)
	for text, remedy := range map[string]string{"1h0m0s": `: use "1h"`, "168h0m0s": `: use "168h"`, "59m0s": "", "1h30m0s": "", "0s": "", "-1h0m0s": ""} {
		require.EqualError(t, Age(text).invalid(), `forge: "`+text+`" is not an age of the form 1h, 1d or 1month`+remedy)
	}
	for _, text := range []string{"", "0d", "d", "5", "5m", "5 minutes", "-1d", "1.5d", "9999999y", "2147483648h"} {
		_, err := Age(text).duration()
		require.Error(t, err, text)
	}
}

func TestWorkDuration(t *testing.T) {
	const h, m, s = time.Hour, time.Minute, time.Second
	for text, want := range map[string]time.Duration{
		"1w 2d 3h30m": 40*h + 16*h + 3*h + 30*m, "1w2d3h30m": 59*h + 30*m, "1mo": 160 * h, "1mo 1m": 160*h + m,
		"3h 30m": 3*h + 30*m, "45m": 45 * m, "-45m": -45 * m, "-1d 2h": -10 * h, "30s": 30 * s, "0m": 0, "0h": 0, "1d": 8 * h,
		" 1h ": h, "1 h 5 m": h + 5*m, "2h 2h": 4 * h, "90m": 90 * m, "2562047h": 2562047 * h, "- 5m": -5 * m, " -5m ": -5 * m,
	} {
		got, err := ParseWorkDuration(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, time.Duration(got), text)
		again, err := ParseWorkDuration(got.String())
		require.NoError(t, err)
		assert.Equal(t, got, again, "%s is written as %s", text, got)
	}
	for _, text := range []string{
		"", " ", "-", "5", "h", "1x", "1H", "1.5h", "1,5h", "1h-5m", "--5m", "+5m", "1h 5", "five", "1h;", "1 hour", "\x00", "1h\n5m", "９h",
		"2562048h", "9999999999999999999h", "1000000000000000w", "2562047h 2562047h",
	} {
		_, err := ParseWorkDuration(text)
		require.Error(t, err, text)
	}
	for text, want := range map[WorkDuration]string{
		0: "0m", WorkDuration(s): "1s", WorkDuration(59*h + 30*m): "59h30m", WorkDuration(-45 * m): "-45m", WorkDuration(m + s): "1m1s", WorkDuration(-h - s): "-1h1s",
		WorkDuration(time.Millisecond): "0m", WorkDuration(-time.Millisecond): "0m", WorkDuration(h + time.Millisecond): "1h",
		math.MaxInt64: "2562047h47m16s", math.MinInt64: "-2562047h47m16s",
	} {
		assert.Equal(t, want, text.String())
	}
	var d WorkDuration
	require.NoError(t, json.Unmarshal([]byte(`"1h 30m"`), &d))
	assert.Equal(t, WorkDuration(90*m), d)
	require.Error(t, json.Unmarshal([]byte(`5`), &d))
	require.Error(t, json.Unmarshal([]byte(`"soon"`), &d))
	assert.Equal(t, WorkDuration(90*m), d)
	require.NoError(t, json.Unmarshal([]byte(`null`), &d))
	assert.Zero(t, d)
}

func TestNullable(t *testing.T) {
	type options struct {
		N Nullable[int]    `json:"n,omitzero"`
		S Nullable[string] `json:"s,omitzero"`
		D Nullable[Date]   `json:"d,omitzero"`
	}
	for _, test := range []struct {
		options options
		want    string
	}{
		{options{}, `{}`},
		{options{N: Value(0), S: Value("")}, `{"n":0,"s":""}`},
		{options{N: Null[int](), S: Null[string](), D: Null[Date]()}, `{"n":null,"s":null,"d":null}`},
		{options{D: Value(Date{2026, 1, 2})}, `{"d":"2026-01-02"}`},
	} {
		data, err := json.Marshal(test.options)
		require.NoError(t, err)
		assert.Equal(t, test.want, string(data))
		var read options
		require.NoError(t, json.Unmarshal(data, &read))
		assert.Equal(t, test.options, read)
	}
	v, ok := Value(5).Get()
	assert.True(t, ok)
	assert.Equal(t, 5, v)
	_, ok = Null[int]().Get()
	assert.False(t, ok)
	assert.True(t, Null[int]().IsNull())
	assert.False(t, Value(0).IsNull())
	assert.False(t, Value(0).IsZero())
	assert.True(t, Nullable[int]{}.IsZero())
	n := Value(5)
	require.Error(t, json.Unmarshal([]byte(`"x"`), &n))
	assert.Equal(t, Value(5), n)
	require.NoError(t, json.Unmarshal([]byte(" null "), &n))
	assert.Equal(t, Null[int](), n)
}

// A Date that is not a day of the calendar is refused, since another day would be sent.
func TestImpossibleDates(t *testing.T) {
	for _, date := range []Date{{2026, 2, 29}, {2026, 13, 1}, {2026, 0, 1}, {2026, 1, 0}, {-1, 1, 1}, {10000, 1, 1}} {
		_, err := json.Marshal(date)
		require.Error(t, err, date.String())
		var invalid *ValidationError
		require.ErrorAs(t, date.EncodeValues("due", &url.Values{}), &invalid)
		assert.Equal(t, "due", invalid.Param)
	}
}

// FuzzWorkDuration checks that a decoded duration is written in a form that is decoded to the same
// duration.
func FuzzWorkDuration(f *testing.F) {
	for _, s := range []string{"1w 2d 3h30m", "-45m", "1mo", "", "0m", "9999999999999999999w", "2562047h47m16s", "1h-5m", "1 h"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := ParseWorkDuration(text)
		if err != nil {
			return
		}
		again, err := ParseWorkDuration(d.String())
		require.NoError(t, err)
		require.Equal(t, d, again)
		if !strings.HasPrefix(strings.TrimSpace(text), "-") {
			require.GreaterOrEqual(t, d, WorkDuration(0))
		}
	})
}
