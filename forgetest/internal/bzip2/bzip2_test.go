package bzip2_test

import (
	"bytes"
	"compress/bzip2"
	"io"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	writer "github.com/forge-sdk/forge-go/forgetest/internal/bzip2"
)

// The standard library reads what Writer writes: every length of a run, a whole block, and noise.
func TestRoundTrip(t *testing.T) {
	history, err := os.ReadFile("../../demo/history.txt")
	require.NoError(t, err)
	noise := make([]byte, 200_000)
	for i := range noise {
		noise[i] = byte(rand.Uint32())
	}
	for name, data := range map[string][]byte{
		"empty": {}, "one": {7}, "run": bytes.Repeat([]byte{0}, 100_000), "pairs": bytes.Repeat([]byte("ab"), 5000), "four": []byte("aaaa"),
		"259": bytes.Repeat([]byte{9}, 259), "260": bytes.Repeat([]byte{9}, 260), "text": history, "noise": noise,
	} {
		var packed bytes.Buffer
		z := writer.NewWriter(&packed)
		_, err := z.Write(data)
		require.NoError(t, err)
		require.NoError(t, z.Close())
		got, err := io.ReadAll(bzip2.NewReader(&packed))
		require.NoError(t, err, name)
		assert.True(t, bytes.Equal(data, got), name)
	}
}
