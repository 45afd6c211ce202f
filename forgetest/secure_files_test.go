package forgetest

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/hex"
	"encoding/pem"
	"math/big"
	"mime/multipart"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const secureFiles = "/projects/group%2Fapp/secure_files"

// upload sends a multipart body; a part whose name starts with @ is a file.
func (c caller) upload(path string, parts map[string]string) reply {
	c.t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for name, value := range parts {
		part, err := w.CreateFormField(name)
		if file, isFile := strings.CutPrefix(name, "@"); isFile {
			part, err = w.CreateFormFile(file, "upload.bin")
		}
		require.NoError(c.t, err)
		_, err = part.Write([]byte(value))
		require.NoError(c.t, err)
	}
	require.NoError(c.t, w.Close())
	return c.sendAs("POST", path, w.FormDataContentType(), body.String())
}

func TestSecureFiles(t *testing.T) {
	s := New(t)
	s.SetClock(noon)
	p := s.AddProject("group/app")
	p.AddSecureFile("seed.txt", []byte("seed"), func(d *Document) { d.Set("expires_at", noon()) })
	c := newCaller(t, s)
	content := "\x00\x01 key \xff"
	sum := sha256.Sum256([]byte(content))
	r := c.upload(secureFiles, map[string]string{"name": "my key.jks", "@file": content})
	require.Equal(t, 201, r.Status, r.Body)
	file := r.object(t)
	assert.Equal(t, map[string]any{
		"id": 2.0, "name": "my key.jks", "checksum": hex.EncodeToString(sum[:]), "checksum_algorithm": "sha256",
		"created_at": "2026-03-04T12:00:00.000Z", "expires_at": nil, "metadata": nil,
	}, file)
	assert.Equal(t, file, c.get(secureFiles+"/2").object(t))
	assert.Equal(t, []any{"seed.txt", "my key.jks"}, c.get(secureFiles).column(t, "name"))
	assert.Equal(t, "2026-03-04T12:00:00.000Z", c.get(secureFiles + "/1").object(t)["expires_at"])
	walked, pages := c.walk(secureFiles+"?per_page=1", "id")
	assert.Equal(t, []any{1.0, 2.0}, walked)
	assert.Equal(t, 2, pages)

	download := c.get(secureFiles + "/2/download")
	assert.Equal(t, 200, download.Status)
	assert.Equal(t, content, download.Body)
	assert.Equal(t, "application/octet-stream", download.Header.Get("Content-Type"))
	assert.Equal(t, `attachment; filename="my key.jks"`, download.Header.Get("Content-Disposition"))

	taken := c.upload(secureFiles, map[string]string{"name": "my key.jks", "@file": "other"})
	assert.Equal(t, 400, taken.Status)
	assert.JSONEq(t, `{"message":{"name":["has already been taken"]}}`, taken.Body)
	s.AddProject("group/other")
	assert.Equal(t, 201, c.upload("/projects/group%2Fother/secure_files", map[string]string{"name": "my key.jks", "@file": ""}).Status)
	assert.Equal(t, 404, c.get(secureFiles+"/3").Status) // a file of the other project
	assert.JSONEq(t, `{"error":"id is invalid"}`, c.get(secureFiles+"/x").Body)

	gone := c.send("DELETE", secureFiles+"/2", "")
	assert.Equal(t, 204, gone.Status)
	assert.Empty(t, gone.Body)
	assert.Equal(t, []any{"seed.txt"}, c.get(secureFiles).column(t, "name"))
	for _, path := range []string{"/2", "/2/download"} {
		assert.JSONEq(t, `{"message":"404 Secure File Not Found"}`, c.get(secureFiles+path).Body)
	}
	assert.Equal(t, 404, c.send("DELETE", secureFiles+"/2", "").Status)
	assert.Equal(t, 201, c.upload(secureFiles, map[string]string{"name": "my key.jks", "@file": content}).Status) // the name is available again
}

func TestSecureFileRefusals(t *testing.T) {
	const limit = 5 << 20 // the 5 MB of the document are MiB
	s := New(t)
	p := s.AddProject("group/app", Private)
	c := newCaller(t, s)
	for body, parts := range map[string]map[string]string{
		`{"error":"file is missing"}`:                             {"name": "a"},
		`{"error":"name is missing"}`:                             {"@file": "x"},
		`{"error":"file is missing, name is missing"}`:            {},
		`{"error":"file is invalid"}`:                             {"name": "a", "file": "no file"},
		`{"message":"413 Request Entity Too Large"}`:              {"name": "a", "@file": strings.Repeat("x", limit+1)},
		`{"error":"message body does not match declared format"}`: nil,
	} {
		r := c.upload(secureFiles, parts)
		if parts == nil {
			r = c.sendAs("POST", secureFiles, "multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=file; filename=a\r\n\r\ncut")
		}
		assert.Equal(t, body, r.Body)
	}
	assert.Equal(t, 0, s.CountApplied("*"))
	assert.Equal(t, 201, c.upload(secureFiles, map[string]string{"name": "a", "@file": strings.Repeat("x", limit)}).Status)
	for name, tc := range map[string]struct {
		role        Role
		read, write int
	}{"stranger": {NoAccess, 404, 404}, "reporter": {Reporter, 403, 403}, "developer": {Developer, 200, 403}, "maintainer": {Maintainer, 200, 201}} {
		u := s.AddUser(name)
		p.AddMember(u, tc.role)
		as := c.as(u.Token)
		for _, path := range []string{"", "/1", "/1/download"} {
			assert.Equal(t, tc.read, as.get(secureFiles+path).Status, name+path)
		}
		assert.Equal(t, tc.write, as.upload(secureFiles, map[string]string{"name": name, "@file": "x"}).Status, name)
		if tc.write != 201 {
			assert.Equal(t, tc.write, as.send("DELETE", secureFiles+"/1", "").Status, name)
		}
	}
	assert.Equal(t, 401, c.as("").get(secureFiles).Status)
}

// Certificates are parsed in the background.
func TestSecureFileMetadata(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	name := pkix.Name{Country: []string{"NO"}, Organization: []string{"Acme"}, OrganizationalUnit: []string{"Apps"}, CommonName: "Signing",
		ExtraNames: []pkix.AttributeTypeAndValue{{Type: asn1.ObjectIdentifier{0, 9, 2342, 19200300, 100, 1, 1}, Value: "ABC123"}}}
	template := &x509.Certificate{SerialNumber: big.NewInt(4711), Subject: name, NotBefore: noon(), NotAfter: noon().AddDate(1, 0, 0)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	for form, data := range map[string]string{"DER": string(der), "PEM": string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))} {
		s := New(t)
		pass := ticking(s)
		p := s.AddProject("group/app")
		c := newCaller(t, s)
		assert.Nil(t, c.upload(secureFiles, map[string]string{"name": "a.cer", "@file": data}).object(t)["metadata"])
		pass(time.Second)
		file := c.get(secureFiles + "/1").object(t)
		who := map[string]any{"C": "NO", "O": "Acme", "CN": "Signing", "OU": "Apps"}
		subject := map[string]any{"C": "NO", "O": "Acme", "CN": "Signing", "OU": "Apps", "UID": "ABC123"}
		assert.Equal(t, map[string]any{"id": "4711", "issuer": who, "subject": subject, "expires_at": "2027-03-04T12:00:00.000Z"}, file["metadata"], form)
		assert.Equal(t, "2027-03-04T12:00:00.000Z", file["expires_at"])
		assert.Equal(t, noon().AddDate(1, 0, 0), p.AddSecureFile("b.cer", []byte(data), nil).Get("expires_at"))
	}
}
