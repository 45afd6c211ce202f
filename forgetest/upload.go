package forgetest

import (
	"bytes"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
)

// upload is a file of a multipart body.
type upload struct {
	name string // the file name that the client sent
	data []byte
}

// readMultipart adds the fields of a multipart body to the parameters and stores its files.
func (c *call) readMultipart(body []byte, boundary string) *response {
	reader := multipart.NewReader(bytes.NewReader(body), boundary)
	for {
		part, err := reader.NextPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		var data []byte
		if err == nil {
			data, err = io.ReadAll(part)
		}
		if err != nil {
			return fail(rejected(http.StatusBadRequest, "message body does not match declared format"))
		}
		name := part.FormName()
		if part.FileName() == "" {
			c.params.Add(name, string(data))
			continue
		}
		if c.files == nil {
			c.files = map[string]upload{}
		}
		c.files[name] = upload{part.FileName(), data}
		c.params.Set(name, part.FileName())
	}
}
