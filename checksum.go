package forge

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"strings"
)

// checksum is what a stream must come to; the zero checksum: anything.
type checksum struct {
	want string // hex
	make func() hash.Hash
}

// verified compares the stream with a checksum while it is read. An algorithm that is not known is refused: a download that is
// not compared must not look like one that was.
func (r *request) verified(algorithm ChecksumAlgorithm, sum string) *request {
	switch {
	case sum == "":
	case algorithm == ChecksumSHA256:
		r.sum = checksum{want: sum, make: sha256.New}
	case r.err == nil:
		r.err = &ValidationError{Option: "SecureFile.ChecksumAlgorithm", Param: "checksum_algorithm",
			Reason: "it is none that this version knows: clear Checksum to download without comparing"}
	}
	return r
}

// Checksum compares a download with a checksum, in hex, while it is read: where the content differs the last Read fails with
// ErrChecksum, and SaveTo leaves no file.
func Checksum(algorithm ChecksumAlgorithm, sum string) RequestOption {
	return func(o *callOptions) {
		if !o.fitsOnce("Checksum", kindOpen, o.sum.want != "") {
			return
		}
		digest, err := hex.DecodeString(sum)
		switch {
		case algorithm != ChecksumSHA256:
			o.refuse("Checksum", "", "the algorithm is none that this version knows")
		case err != nil || len(digest) != sha256.Size:
			o.refuse("Checksum", "", "it is no SHA-256, which has 64 hex digits")
		default:
			o.sum = checksum{want: sum, make: sha256.New}
		}
	}
}

// over gives the stream, which ends in an error where its content differs.
func (s checksum) over(stream io.ReadCloser) io.ReadCloser {
	if s.make == nil {
		return stream
	}
	return &verifier{ReadCloser: stream, hash: s.make(), want: s.want}
}

// verifier reads a stream and hashes it.
type verifier struct {
	io.ReadCloser
	hash hash.Hash
	want string
}

// Read reads on; the end of a stream that differs is an error and not io.EOF.
func (v *verifier) Read(p []byte) (int, error) {
	n, err := v.ReadCloser.Read(p)
	_, _ = v.hash.Write(p[:n]) // it never fails
	if err != io.EOF {
		return n, err
	}
	if got := hex.EncodeToString(v.hash.Sum(nil)); !strings.EqualFold(got, v.want) {
		return n, &failure{sentinel: ErrChecksum, text: "the content's SHA-256 is " + got + " and should be " + cleanText(v.want, 128)}
	}
	return n, io.EOF
}
