package forge

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkSettings is for profiles: reading the settings, and finding one that has changed.
func BenchmarkSettings(b *testing.B) {
	text, err := os.ReadFile("benchmarks/testdata/settings.json")
	require.NoError(b, err)
	client := memoryClient(b, text)
	b.Run("Get", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = client.Settings.Get(b.Context())
		}
	})
	b.Run("Diff", func(b *testing.B) {
		settings, err := client.Settings.Get(b.Context())
		require.NoError(b, err)
		settings.SessionExpireDelay++
		b.ReportAllocs()
		for b.Loop() {
			require.Len(b, settings.Diff().Changes, 1)
		}
	})
}
