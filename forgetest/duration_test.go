package forgetest

import (
	"testing"

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
