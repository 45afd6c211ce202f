package simulation

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	forge "github.com/forge-sdk/forge-go"
)

// sum identifies a content.
type sum struct {
	size   int64
	sha256 string
}

func sumOf(content []byte) sum {
	h := sha256.Sum256(content)
	return sum{int64(len(content)), hex.EncodeToString(h[:])}
}

// read is the result of a download.
type read struct {
	size  int64 // as announced
	name  string
	got   []byte
	whole bool // read to io.EOF, or saved without an error
	err   error
}

// content returns the content that a step uploads.
func content(s *Step) []byte {
	if s.Call == "PlaceholderReassignments.Upload" {
		rows := "Source host,Import type,Source user identifier,Source user name,Source username,Platform username,Platform public email\n"
		return append([]byte(rows), bytes.Repeat([]byte("https://old.example.com,bitbucket,0,\"N, 0\",u0,maya,\n"), int(min(s.Size, 1)))...)
	}
	return Pattern(int(s.Size))
}

func (p *player) upload(s *Step) string { return filepath.Join(p.dir, s.ID+".upload") }

// file returns the file that a step uploads, from the drawn source.
func (p *player) file(o *observed) forge.File {
	s, data := o.step, content(o.step)
	o.sent = sumOf(data)
	switch s.Source {
	case fromBytes:
		return forge.FileBytes(data).Named("file.csv")
	case fromReader:
		return forge.FileReader(bytes.NewReader(data), int64(len(data))).Named("file.csv")
	case fromDisk:
		return forge.FileAt(p.upload(s))
	}
	return forge.File{Name: "file.csv", Size: int64(len(data)), Open: func() (io.ReadCloser, error) {
		o.mu.Lock()
		o.opened++
		o.mu.Unlock()
		o.fire(p.w, inOpen)
		return &ownFile{Reader: bytes.NewReader(data), o: o, w: p.w}, nil
	}}
}

// ownFile is a file that the caller implements.
type ownFile struct {
	*bytes.Reader
	o *observed
	w *World
}

func (f *ownFile) Read(p []byte) (int, error) {
	f.o.fire(f.w, inRead)
	return f.Reader.Read(p[:min(len(p), 5000)])
}

// WriteTo calls Read, which the WriteTo of the embedded reader would bypass.
func (f *ownFile) WriteTo(w io.Writer) (int64, error) {
	return io.Copy(w, struct{ io.Reader }{f})
}

func (f *ownFile) Close() error {
	f.o.mu.Lock()
	f.o.closed++
	f.o.mu.Unlock()
	f.o.fire(f.w, inClose)
	return nil
}

// download reads or saves a stream.
func (p *player) download(o *observed, c *calling) {
	d, err := o.row.open(c)
	if err != nil {
		o.err = err
		return
	}
	r := &read{size: d.Size, name: d.Name}
	o.stream = r
	defer d.Close()
	if o.step.Save {
		r.err = d.SaveTo(p.path(o.step))
		r.whole = r.err == nil
		return
	}
	buffer := make([]byte, 4<<10)
	for o.step.Read < 0 || int64(len(r.got)) < o.step.Read {
		n, err := d.Read(buffer)
		r.got = append(r.got, buffer[:n]...)
		if errors.Is(err, io.EOF) {
			r.whole = true
			return
		}
		if err != nil {
			r.err = err
			return
		}
		if o.step.Slow > 0 && len(r.got) < 64<<10 {
			time.Sleep(o.step.Slow)
			o.slow += o.step.Slow
		}
	}
}

// saved returns the content of a step's file after the call; nil if there is no file.
func (p *player) saved(s *Step) []byte {
	data, err := os.ReadFile(p.path(s))
	if err != nil {
		return nil
	}
	if data == nil {
		data = []byte{}
	}
	return data
}
