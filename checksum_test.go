package forge

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func sumOf(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

// A file appears only if it is whole, what its checksum says, and no larger than MaxBytes allows; nothing else is left behind.
func TestSaveToChecked(t *testing.T) {
	const content = "the content"
	for _, test := range []struct {
		name string
		act  act
		opts []RequestOption
		is   error
	}{
		{"right", say(200, content), []RequestOption{Checksum(ChecksumSHA256, sumOf(content)), MaxBytes(int64(len(content)))}, nil},
		{"capitals", say(200, content), []RequestOption{Checksum(ChecksumSHA256, strings.ToUpper(sumOf(content)))}, nil},
		{"other content", say(200, content), []RequestOption{Checksum(ChecksumSHA256, sumOf("else"))}, ErrChecksum},
		{"empty", say(200, ""), []RequestOption{Checksum(ChecksumSHA256, sumOf(content))}, ErrChecksum},
		{"cut short", closing("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n" + content), []RequestOption{Checksum(ChecksumSHA256, sumOf(content))}, io.ErrUnexpectedEOF},
		{"too large", say(200, content), []RequestOption{MaxBytes(int64(len(content)) - 1)}, ErrTooLarge},
		{"too large without a length", closing("HTTP/1.1 200 OK\r\n\r\n" + content), []RequestOption{MaxBytes(4)}, ErrTooLarge},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "saved")
			d, err := openArchive(t.Context(), wireClient(t, newWire(t, always(test.act)).url), test.opts...)
			require.NoError(t, err)
			err = d.SaveTo(path)
			if test.is == nil {
				require.NoError(t, err)
				saved, err := os.ReadFile(path)
				require.NoError(t, err)
				assert.Equal(t, content, string(saved))
				return
			}
			require.ErrorIs(t, err, test.is)
			assert.Equal(t, archiveRoute, asError(t, err).Route)
			left, err := os.ReadDir(dir)
			require.NoError(t, err)
			assert.Empty(t, left)
		})
	}
}

// The option adds to the checksum that a secure file brings: both must be right.
func TestChecksumAndSecureFile(t *testing.T) {
	c := wireClient(t, newWire(t, always(say(200, "content"))).url)
	right, wrong := sumOf("content"), sumOf("else")
	for _, test := range []struct {
		own, option string
		is          error
	}{{right, right, nil}, {right, wrong, ErrChecksum}, {wrong, right, ErrChecksum}} {
		file := &SecureFile{ID: 1, Checksum: test.own, ChecksumAlgorithm: ChecksumSHA256}
		d, err := c.SecureFiles.Download(t.Context(), ID(1), file, Checksum(ChecksumSHA256, test.option))
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, d)
		require.ErrorIs(t, err, test.is)
		require.NoError(t, d.Close())
	}
}

// What cannot be compared with is refused, and so is a call that is no download: it would not be compared.
func TestChecksumRefused(t *testing.T) {
	w := newWire(t, always(say(200, "content")))
	c := wireClient(t, w.url)
	for _, option := range []RequestOption{
		Checksum("md5", sumOf("")), Checksum("", sumOf("")), Checksum(ChecksumSHA256, ""), Checksum(ChecksumSHA256, sumOf("")[1:]), Checksum(ChecksumSHA256, "g"+sumOf("")[1:]),
	} {
		var v *ValidationError
		_, err := openArchive(t.Context(), c, option)
		require.ErrorAs(t, err, &v)
		assert.Equal(t, "Checksum", v.Option)
	}
	var v *ValidationError
	require.ErrorAs(t, c.Do(t.Context(), callOf(safe), nil, Checksum(ChecksumSHA256, sumOf(""))), &v)
	assert.Empty(t, w.seen())
}
