package nginx

import (
	"bytes"
	"net/http"
	"testing"

	"github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/integration/internal/nginxtest"
)

// An upload that is too large for nginx is refused with 413 while it is still being sent. The
// caller gets this response, and never the broken pipe of the connection that nginx closes. Nothing
// is sent again.
func TestUploadTooLarge(t *testing.T) {
	for _, test := range []struct {
		name, close string
		tls         bool
	}{
		{"reads on for a while", "lingering_close on;", false},
		{"closes at once", "lingering_close off;", false},
		{"closes at once, HTTP/2", "lingering_close off;", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := build(t, nginxtest.Config{TLS: test.tls, Server: "client_max_body_size 1m;" + test.close + passed})
			content := bytes.Repeat([]byte("x"), 3<<20)
			for range 100 {
				_, err := p.client.SecureFiles.Upload(t.Context(), app, &forge.UploadSecureFileOptions{Name: "big", File: forge.FileBytes(content)})
				requireFailure(t, err, http.StatusRequestEntityTooLarge, 1, false)
			}
			p.srv.AssertNoRequest(t)
		})
	}
}
