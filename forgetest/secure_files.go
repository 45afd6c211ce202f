package forgetest

import (
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"mime"
	"net/http"
	"slices"
	"strings"
)

func secureFileRoutes() []route {
	return []route{
		{name: "GET /projects/:project_id/secure_files", role: Developer, handle: listSecureFiles},
		{name: "GET /projects/:project_id/secure_files/:id", role: Developer, handle: inSecureFiles(getSecureFile)},
		{name: "POST /projects/:project_id/secure_files", role: Maintainer, handle: createSecureFile},
		{name: "GET /projects/:project_id/secure_files/:id/download", role: Developer, handle: inSecureFiles(downloadSecureFile)},
		{name: "DELETE /projects/:project_id/secure_files/:id", role: Maintainer, handle: inSecureFiles(deleteSecureFile)},
	}
}

// maxSecureFile is the largest size of a secure file: 5 MB (Document 1 §8), read as MiB.
const maxSecureFile = 5 << 20

type secureFile struct {
	doc  *Document
	data []byte
}

// AddSecureFile stores a secure file and returns its document. If the file is an X.509 certificate,
// the document has its metadata and expires_at. fill, if not nil, changes the document.
func (p *Project) AddSecureFile(name string, content []byte, fill func(file *Document)) *Document {
	p.srv.edit()
	f := p.newSecureFile(name, content)
	p.srv.mu.Unlock()
	f.readCertificate()
	if fill != nil {
		fill(f.doc)
	}
	if m := f.doc.doc("metadata"); m != nil && m.doc("issuer") != nil {
		if m.doc("issuer").text("UID") != "" {
			panic("forgetest: SecureFileMetadata.issuer.UID cannot be set: only subjects have a UID")
		}
		m.doc("issuer").Omit("UID") // only subjects have a UID
	}
	p.srv.edit()
	defer p.srv.mu.Unlock()
	p.secureFiles = append(p.secureFiles, f)
	return f.doc
}

func (p *Project) newSecureFile(name string, content []byte) *secureFile {
	sum := sha256.Sum256(content)
	d := NewDocument("SecureFile").Set("id", p.srv.store.nextID("secure file", 1)).Set("name", name).
		Set("checksum", hex.EncodeToString(sum[:])).Set("checksum_algorithm", "sha256").Set("created_at", p.srv.now())
	return &secureFile{d, slices.Clone(content)}
}

// readCertificate sets metadata and expires_at if the file is an X.509 certificate, as DER or PEM.
func (f *secureFile) readCertificate() {
	der := f.data
	if block, _ := pem.Decode(der); block != nil {
		der = block.Bytes
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return
	}
	end := certificate.NotAfter.UTC()
	f.doc.Set("expires_at", end).Set("metadata", NewDocument("SecureFileMetadata").Set("id", certificate.SerialNumber.String()).
		Set("issuer", certificateName(certificate.Issuer).Omit("UID")).Set("subject", certificateName(certificate.Subject)).Set("expires_at", end))
}

func certificateName(n pkix.Name) *Document {
	d := NewDocument("CertificateName").Set("C", strings.Join(n.Country, ",")).Set("O", strings.Join(n.Organization, ",")).
		Set("CN", n.CommonName).Set("OU", strings.Join(n.OrganizationalUnit, ","))
	for _, part := range n.Names {
		if text, isText := part.Value.(string); isText && part.Type.String() == "0.9.2342.19200300.100.1.1" {
			return d.Set("UID", text)
		}
	}
	return d.Omit("UID")
}

// inSecureFiles finds the file that the path names.
func inSecureFiles(handle func(*call, *secureFile) response) func(*call) response {
	return func(c *call) response {
		id, _ := parseID(c.args["id"])
		for _, f := range c.project.secureFiles {
			if f.doc.int("id") == id {
				return handle(c, f)
			}
		}
		return notFound("Secure File")
	}
}

func listSecureFiles(c *call) response {
	docs := make([]*Document, len(c.project.secureFiles))
	for i, f := range c.project.secureFiles {
		docs[i] = f.doc
	}
	return c.page(listOf(docs))
}

func getSecureFile(_ *call, f *secureFile) response { return ok(f.doc) }

// createSecureFile stores an upload. It parses certificates in the background.
func createSecureFile(c *call) response {
	file, sent := c.files["file"]
	name := c.text("name")
	switch {
	case !sent:
		return rejected(http.StatusBadRequest, "file is invalid")
	case len(file.data) > maxSecureFile:
		return failure(http.StatusRequestEntityTooLarge, "413 Request Entity Too Large")
	case slices.ContainsFunc(c.project.secureFiles, func(f *secureFile) bool { return f.doc.text("name") == name }):
		return invalid("name", "has already been taken")
	}
	f := c.project.newSecureFile(name, file.data)
	c.project.secureFiles = append(c.project.secureFiles, f)
	c.server.schedule(f.readCertificate)
	return created(f.doc)
}

func downloadSecureFile(_ *call, f *secureFile) response {
	a := response{status: http.StatusOK, body: f.data}
	a.set("Content-Type", "application/octet-stream")
	a.set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": f.doc.text("name")}))
	return a
}

func deleteSecureFile(c *call, f *secureFile) response {
	c.project.secureFiles = slices.DeleteFunc(c.project.secureFiles, func(other *secureFile) bool { return other == f })
	return response{status: http.StatusNoContent}
}
