package forge

import (
	"errors"
	"io"
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
	app := Path("group/app")
	raw := map[string]string{"Content-Type": "application/octet-stream", "Content-Disposition": `attachment; filename="myfile.cer"`}
	runScenarios(t, []scenario{
		{
			name: "read",
			exchanges: []exchange{
				{sent: "GET " + files, query: "per_page=100", answer: "secure_files/secure_files.json"},
				{sent: "GET " + files + "/1", answer: "secure_files/secure_file.json"},
				{sent: "GET " + files + "/9", status: 404, answer: `{"message":"404 Not Found"}`},
			},
			run: func(t *testing.T, c *Client) {
				list, err := Collect(c.SecureFiles.List(t.Context(), app))
				require.NoError(t, err)
				assertWhole(t, "secure_files/secure_files.json", list)
				assert.Nil(t, list[1].Metadata)
				assert.True(t, list[1].ExpiresAt.IsZero())
				file, err := c.SecureFiles.Get(t.Context(), app, 1)
				require.NoError(t, err)
				assertWhole(t, "secure_files/secure_file.json", file)
				assert.Equal(t, ChecksumSHA256, file.ChecksumAlgorithm)
				_, err = c.SecureFiles.Get(t.Context(), app, 9)
				require.ErrorIs(t, err, ErrNotFound)
			},
		},
		{
			name: "upload and delete",
			exchanges: []exchange{
				{sent: "POST " + files, form: "file=@keystore.jks:" + secureContent + "&name=keystore.jks", status: 201, answer: "secure_files/uploaded.json"},
				{sent: "POST " + files, form: "file=@file:x&name=keystore.jks", status: 400, answer: `{"message":{"name":["has already been taken"]}}`},
				{sent: "DELETE " + files + "/2", status: 204},
				{sent: "DELETE " + files + "/2", status: 404, answer: `{"message":"404 Not Found"}`},
			},
			run: func(t *testing.T, c *Client) {
				path := filepath.Join(t.TempDir(), "keystore.jks")
				require.NoError(t, os.WriteFile(path, []byte(secureContent), 0o600))
				file, err := c.SecureFiles.Upload(t.Context(), app, &UploadSecureFileOptions{Name: "keystore.jks", File: FileAt(path)})
				require.NoError(t, err)
				assertWhole(t, "secure_files/uploaded.json", file)
				_, err = c.SecureFiles.Upload(t.Context(), app, &UploadSecureFileOptions{Name: "keystore.jks", File: FileReader(strings.NewReader("x"), 1)})
				require.ErrorIs(t, err, ErrBadRequest)
				assert.Equal(t, []string{"has already been taken"}, asError(t, err).Fields["name"])
				require.NoError(t, c.SecureFiles.Delete(t.Context(), app, 2))
				require.ErrorIs(t, c.SecureFiles.Delete(t.Context(), app, 2), ErrNotFound)
			},
		},
		{
			name: "download",
			exchanges: []exchange{
				{sent: "GET " + files + "/1", answer: "secure_files/secure_file.json"},
				{sent: "GET " + files + "/1/download", answer: secureContent, header: raw},
				{sent: "GET " + files + "/1/download", answer: "secret key Material\n", header: raw},
				{sent: "GET " + files + "/1/download", answer: secureContent + "more", header: raw},
				{sent: "GET " + files + "/1/download", answer: "", header: raw},
				{sent: "GET " + files + "/3/download", answer: "whatever", header: raw},
			},
			run: func(t *testing.T, c *Client) {
				file, err := c.SecureFiles.Get(t.Context(), app, 1)
				require.NoError(t, err)
				download, err := c.SecureFiles.Download(t.Context(), app, file)
				require.NoError(t, err)
				path := filepath.Join(t.TempDir(), download.Name)
				require.NoError(t, download.SaveTo(path))
				content, err := os.ReadFile(path)
				require.NoError(t, err)
				assert.Equal(t, secureContent, string(content))
				for range 3 {
					download, err = c.SecureFiles.Download(t.Context(), app, file)
					require.NoError(t, err)
					other := filepath.Join(t.TempDir(), download.Name)
					err = download.SaveTo(other)
					require.ErrorIs(t, err, ErrChecksum)
					assert.Equal(t, "/projects/:project_id/secure_files/:id/download", asError(t, err).Route)
					_, err = os.Stat(other)
					require.ErrorIs(t, err, os.ErrNotExist, "nothing is left of it")
				}
				download, err = c.SecureFiles.Download(t.Context(), app, &SecureFile{ID: 3})
				require.NoError(t, err)
				content, err = io.ReadAll(download)
				require.NoError(t, err)
				assert.Equal(t, "whatever", string(content))
				require.NoError(t, download.Close())
			},
		},
	})
}

func TestSecureFilesRefused(t *testing.T) {
	c := serve(t)
	upload := func(o *UploadSecureFileOptions) error {
		_, err := c.SecureFiles.Upload(t.Context(), ID(42), o)
		return err
	}
	large := File{Name: "large", Size: maxSecureFile + 1, Open: func() (io.ReadCloser, error) { return nil, errors.New("it is opened") }}
	assertRefused(t, upload(&UploadSecureFileOptions{Name: "a", File: large}), "UploadSecureFileOptions.File", "file")
	assert.ErrorContains(t, upload(&UploadSecureFileOptions{Name: "a", File: large}), "5242881 bytes; the maximum is 5 MB")
	assertRefused(t, upload(&UploadSecureFileOptions{File: FileBytes([]byte("x"))}), "UploadSecureFileOptions.Name", "name")
	assertRefused(t, upload(nil), "UploadSecureFileOptions.Name", "name")
	assertRefused(t, upload(&UploadSecureFileOptions{Name: "a"}), "File", "file")
	assertRefused(t, upload(&UploadSecureFileOptions{Name: "a", File: FileAt("testdata/none")}), "File", "file")
	download := func(file *SecureFile) error {
		_, err := c.SecureFiles.Download(t.Context(), ID(42), file)
		return err
	}
	assertRefused(t, download(nil), "argument", "id")
	assertRefused(t, download(&SecureFile{ID: 1, Checksum: "00", ChecksumAlgorithm: "md5"}), "SecureFile.ChecksumAlgorithm", "checksum_algorithm")
}

// A file of exactly 5 MB is sent.
func TestSecureFileOfLimit(t *testing.T) {
	c := serve(t, exchange{sent: "POST /projects/42/secure_files", form: "file=@file:" + strings.Repeat("x", maxSecureFile) + "&name=a", status: 201, answer: "secure_files/uploaded.json"})
	_, err := c.SecureFiles.Upload(t.Context(), ID(42), &UploadSecureFileOptions{Name: "a", File: FileReader(strings.NewReader(strings.Repeat("x", maxSecureFile)), maxSecureFile)})
	require.NoError(t, err)
}
