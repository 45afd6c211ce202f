package forge

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/url"
	"time"
)

// SecureFilesService keeps files for CI jobs, such as certificates and signing keys, outside the
// repository.
// GitLab docs: https://docs.gitlab.com/api/secure_files/
type SecureFilesService struct{ service }

// maxSecureFile is the largest secure file in bytes: 5 MB (Document 1 §8), read as MiB, so that the
// client refuses nothing that a server would take.
const maxSecureFile = 5 << 20

// List lists the secure files of a project. GitLab docs: https://docs.gitlab.com/api/secure_files/
func (s *SecureFilesService) List(ctx context.Context, project Ref, opts ...RequestOption) iter.Seq2[*SecureFile, error] {
	r := s.newGet("/projects/:project_id/secure_files", project)
	return list[SecureFile](ctx, r, opts)
}

// Get reads the details of a secure file; Download reads its content.
// GitLab docs: https://docs.gitlab.com/api/secure_files/
func (s *SecureFilesService) Get(ctx context.Context, project Ref, file int64, opts ...RequestOption) (*SecureFile, error) {
	r := s.newGet("/projects/:project_id/secure_files/:id", project, file)
	return do[SecureFile](ctx, r, opts)
}

// UploadSecureFileOptions describes a new secure file.
type UploadSecureFileOptions struct {
	// Name is the file's name, unique in the project. Required.
	Name string `url:"name,omitempty"`
	// File is the content, 5 MB at most; it is streamed. Required.
	File File `url:"-"`
}

func (o *UploadSecureFileOptions) check() error {
	if err := required("name", o.Name != ""); err != nil {
		return err
	}
	if o.File.Size > maxSecureFile {
		return &ValidationError{Option: "UploadSecureFileOptions.File", Param: "file",
			Reason: fmt.Sprintf("it has %d bytes; the maximum is 5 MB (%d bytes)", o.File.Size, maxSecureFile)}
	}
	return nil
}

// fields returns the parts of the body other than the file.
func (o *UploadSecureFileOptions) fields() url.Values {
	return url.Values{"name": {o.zeroIfNil().Name}}
}

// zeroIfNil returns o, or zero options if o is nil.
func (o *UploadSecureFileOptions) zeroIfNil() *UploadSecureFileOptions {
	if o == nil {
		return &UploadSecureFileOptions{}
	}
	return o
}

// Upload stores a new secure file. It returns ErrBadRequest if the project has a file with the name
// already. GitLab docs: https://docs.gitlab.com/api/secure_files/
func (s *SecureFilesService) Upload(ctx context.Context, project Ref, o *UploadSecureFileOptions, opts ...RequestOption) (*SecureFile, error) {
	r := s.newPost("/projects/:project_id/secure_files", project).upload(o.fields(), "file", o.zeroIfNil().File).checked(o)
	return do[SecureFile](ctx, r, opts)
}

// Download streams the content of a file that List, Get or Upload returned, and compares it with
// the file's checksum. If they differ, the Read at the end of the stream returns an error that
// matches ErrChecksum, and SaveTo leaves no file. &SecureFile{ID: 3} downloads without comparing.
// GitLab docs: https://docs.gitlab.com/api/secure_files/
func (s *SecureFilesService) Download(ctx context.Context, project Ref, file *SecureFile, opts ...RequestOption) (*Download, error) {
	r := s.newGet("/projects/:project_id/secure_files/:id/download", project, file.id()).verified(file.checksum())
	return open(ctx, r, opts)
}

// Delete removes a secure file. GitLab docs: https://docs.gitlab.com/api/secure_files/
func (s *SecureFilesService) Delete(ctx context.Context, project Ref, file int64, opts ...RequestOption) error {
	r := s.newDelete("/projects/:project_id/secure_files/:id", project, file)
	return exec(ctx, r, opts)
}

// SecureFile describes a file for CI jobs.
type SecureFile struct {
	// ID is the instance-wide id.
	ID int64 `json:"id"`
	// Name is the file's name, unique in the project, as its uploader chose it. Do not join it to a
	// path; use Download.Name for that.
	Name string `json:"name"`
	// Checksum is the checksum of the content, in hex.
	Checksum string `json:"checksum"`
	// ChecksumAlgorithm is the algorithm of Checksum: sha256.
	ChecksumAlgorithm string `json:"checksum_algorithm"`
	// CreatedAt is when the file was uploaded.
	CreatedAt time.Time `json:"created_at"`
	// ExpiresAt is when the certificate in the file expires; zero when there is none.
	ExpiresAt time.Time `json:"expires_at"`
	// Metadata describes the content of the file, if the server can read it; nil otherwise.
	Metadata *SecureFileMetadata `json:"metadata"`
	// FileExtension is the extension of Name. Not part of the contract.
	FileExtension string `json:"file_extension"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}

func (f *SecureFile) id() any {
	if f == nil {
		return missing("it is nil: use a result of List or Get")
	}
	return f.ID
}

func (f *SecureFile) checksum() (algorithm, checksum string) {
	if f == nil {
		return "", ""
	}
	return f.ChecksumAlgorithm, f.Checksum
}

// SecureFileMetadata describes a certificate or a provisioning profile.
type SecureFileMetadata struct {
	// ID is the serial number of a certificate, or the id of a profile.
	ID string `json:"id"`
	// Issuer is the name of the issuer.
	Issuer *CertificateName `json:"issuer"`
	// Subject is the name of the subject, for which it was issued.
	Subject *CertificateName `json:"subject"`
	// ExpiresAt is when it expires.
	ExpiresAt time.Time `json:"expires_at"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}

// CertificateName is a name in a certificate.
type CertificateName struct {
	// C is the country.
	C string `json:"C"`
	// O is the organization.
	O string `json:"O"`
	// CN is the common name.
	CN string `json:"CN"`
	// OU is the unit of the organization.
	OU string `json:"OU"`
	// UID is the user id; of subjects only.
	UID string `json:"UID"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}
