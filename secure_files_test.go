package forge

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const secureContent = "secret key material\n"

func TestSecureFiles(t *testing.T) {
	const files = "/projects/group%2Fapp/secure_files"
	ctx, app := t.Context(), Path("group/app")
	path := filepath.Join(t.TempDir(), "keystore.jks")
	require.NoError(t, os.WriteFile(path, []byte(secureContent), 0o600))
	upload := func(c *Client) (any, error) {
		return c.SecureFiles.Upload(ctx, app, &UploadSecureFileOptions{Name: "keystore.jks", File: FileAt(path)})
	}
	const form = "file=@keystore.jks:" + secureContent + "&name=keystore.jks"
	runCalls(t, []callRow{
		{"POST " + files, "", form, "secure_files/create.json", upload},
		{"POST " + files, "", form, `400 {"message":{"name":["has already been taken"]}}`, upload},
		{"DELETE " + files + "/2", "", "", "204", func(c *Client) (any, error) { return nil, c.SecureFiles.Delete(ctx, app, 2) }},
	})
	raw := map[string]string{"Content-Type": "application/octet-stream", "Content-Disposition": `attachment; filename="myfile.cer"`}
	download := exchange{sent: "GET " + files + "/1/download", answer: secureContent, header: raw}
	changed, longer, empty := download, download, download
	changed.answer, longer.answer, empty.answer = "secret key Material\n", secureContent+"more", ""
	c := serve(t, exchange{sent: "GET " + files + "/1", answer: "secure_files/get.json"}, download, changed, longer, empty,
		exchange{sent: "GET " + files + "/3/download", answer: "whatever", header: raw})
	file, err := c.SecureFiles.Get(ctx, app, 1)
	require.NoError(t, err)
	got, err := c.SecureFiles.Download(ctx, app, file)
	require.NoError(t, err)
	assert.Equal(t, secureContent, readDownload(t, got))
	for range 3 {
		got, err = c.SecureFiles.Download(ctx, app, file)
		require.NoError(t, err)
		other := filepath.Join(t.TempDir(), got.Name)
		err = got.SaveTo(other)
		require.ErrorIs(t, err, ErrChecksum)
		assert.Equal(t, "/projects/:project_id/secure_files/:id/download", asError(t, err).Route)
		_, err = os.Stat(other)
		require.ErrorIs(t, err, os.ErrNotExist, "nothing is left of it")
	}
	got, err = c.SecureFiles.Download(ctx, app, &SecureFile{ID: 3}) // without a checksum
	require.NoError(t, err)
	assert.Equal(t, "whatever", readDownload(t, got))
}

func TestSecureFilesRefused(t *testing.T) {
	c := serve(t)
	upload := func(o *UploadSecureFileOptions) error {
		_, err := c.SecureFiles.Upload(t.Context(), ID(42), o)
		return err
	}
	large := File{Name: "large", Size: maxSecureFile + 1, Open: func() (io.ReadCloser, error) { return nil, errors.New("it is opened") }}
	assertRefused(t, upload(&UploadSecureFileOptions{Name: "a", File: large}), "UploadSecureFileOptions.File", "file")
	assert.ErrorContains(t, upload(&UploadSecureFileOptions{Name: "a", File: large}), "5242881 bytes; the maximum is 5 MB (5242880 bytes)")
	assertRefused(t, upload(&UploadSecureFileOptions{Name: "a"}), "File", "file")
	assertRefused(t, upload(&UploadSecureFileOptions{Name: "a", File: FileAt("testdata/none")}), "File", "file")
	opened := 0
	gone := File{Name: "gone", Size: 1, Open: func() (io.ReadCloser, error) { opened++; return nil, fs.ErrNotExist }}
	require.ErrorIs(t, upload(&UploadSecureFileOptions{Name: "a", File: gone}), fs.ErrNotExist)
	assert.Equal(t, 1, opened, "an error of the caller's code is final")
	download := func(file *SecureFile) error {
		_, err := c.SecureFiles.Download(t.Context(), ID(42), file)
		return err
	}
	assertRefused(t, download(nil), "argument", "id")
	assertRefused(t, download(&SecureFile{ID: 1, Checksum: "00", ChecksumAlgorithm: "md5"}), "SecureFile.ChecksumAlgorithm", "checksum_algorithm")
}

// A file of exactly 5 MB is sent.
func TestSecureFileOfLimit(t *testing.T) {
	c := serve(t, exchange{sent: "POST /projects/42/secure_files", form: "file=@file:" + strings.Repeat("x", maxSecureFile) + "&name=a", status: 201, answer: "secure_files/create.json"})
	_, err := c.SecureFiles.Upload(t.Context(), ID(42), &UploadSecureFileOptions{Name: "a", File: FileReader(strings.NewReader(strings.Repeat("x", maxSecureFile)), maxSecureFile)})
	require.NoError(t, err)
}
