package forgetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestDurations(t *testing.T) {
	for text, want := range map[string]int64{"3h30m": 12600, "1w 2d": 201600, "-1h": -3600, "1 h": 3600, "45s": 45, "+2m": 120} {
		got, valid := parseDuration(text)
		assert.True(t, valid, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "-", "5", "h", "1x", "1h-2m", "one hour"} {
		_, valid := parseDuration(text)
		assert.False(t, valid, text)
	}
	assert.Equal(t, "-1d 1h", humanDuration(-9*3600))
	assert.Nil(t, humanDuration(0))
	assert.Equal(t, "59s", humanDuration(59))
}

func TestAges(t *testing.T) {
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"1h": time.Hour, "1d": day, "1month": 30 * day, "2 weeks": 14 * day, "1y": 8766 * time.Hour, "3mo": 90 * day, "1d12h": 36 * time.Hour,
		"1 day 2 hours": 26 * time.Hour, "1 day 30 minutes": day + 30*time.Minute, "1d30m": day + 30*time.Minute, "90 secs": 90 * time.Second,
		"1.5 days": 36 * time.Hour, "1 day and 1 min": day + time.Minute, "1 Week, 2 hrs": 7*day + 2*time.Hour, "1m": time.Minute, "2 mos": 60 * day,
	} {
		age, valid := parseAge(text)
		assert.True(t, valid, text)
		assert.Equal(t, want, age, text)
	}
	age, valid := parseAge("999999999999999999 years")
	assert.True(t, valid && age > 200*8766*time.Hour, "the longest duration")
	for _, text := range []string{"", "1", "d", "-1d", "0d", "1x", "soon", "1d!", "1 day or 2", "1 and day", "1 ds", ", 1 day", "99999999999999999999d"} {
		_, valid := parseAge(text)
		assert.False(t, valid, text)
	}
}
