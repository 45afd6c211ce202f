package main

import (
	"bytes"
	"context"
	"io"
	"mime/multipart"
	"net/http"

	gitlab "gitlab.com/gitlab-org/api/client-go/v2"

	"github.com/forge-sdk/forge-go"
)

// counter is a writer that counts bytes. It has no other method, so io.Copy chooses its buffer.
type counter int64

// Write counts the bytes of p.
func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// same copies with a buffer of 64 KiB. Methods of the reader that copy by themselves are hidden.
func same(to io.Writer, from io.Reader) error {
	_, err := io.CopyBuffer(to, struct{ io.Reader }{from}, make([]byte, 64<<10))
	return err
}

// usual copies as most programs do.
func usual(to io.Writer, from io.Reader) error {
	_, err := io.Copy(to, from)
	return err
}

type copier func(io.Writer, io.Reader) error

func (c *ours) archive(send copier) work {
	return func(ctx context.Context, d *digest) error {
		download, err := c.client.Repositories.Archive(ctx, forge.ID(1), nil)
		if err != nil {
			return err
		}
		defer download.Close()
		var n counter
		err = send(&n, download)
		d.add("", "", int64(n), 0)
		return err
	}
}

func (c *byHand) archive(send copier) work {
	return func(ctx context.Context, d *digest) error {
		return c.send(ctx, http.MethodGet, c.base+"/api/v4/projects/1/repository/archive", http.NoBody, "", func(answer *http.Response) error {
			var n counter
			err := send(&n, answer.Body)
			d.add("", "", int64(n), 0)
			return err
		})
	}
}

// archive copies in a way that the peer chooses.
func (c *peer) archive(ctx context.Context, d *digest) error {
	var n counter
	_, err := c.client.Repositories.StreamArchive(1, &n, nil, gitlab.WithContext(ctx))
	d.add("", "", int64(n), 0)
	return err
}

// pattern is the content of an upload. It is made while it is read, so that no contender's memory
// includes it.
type pattern struct{ left int }

func content() io.Reader { return &pattern{uploadSize} }

const patternText = "0123456789abcdef"

// Read fills p.
func (r *pattern) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	p = p[:min(len(p), r.left)]
	at := (uploadSize - r.left) % len(patternText)
	n := copy(p, patternText[at:])
	for filled := n; filled < len(p); filled += n {
		n = copy(p[filled:], patternText)
	}
	r.left -= len(p)
	return len(p), nil
}

func (c *ours) upload(ctx context.Context, d *digest) error {
	file, err := c.client.SecureFiles.Upload(ctx, forge.ID(1), &forge.UploadSecureFileOptions{Name: "archive", File: forge.FileReader(content(), uploadSize)})
	if err == nil {
		d.add(file.Name, file.Checksum, file.ID, 0)
	}
	return err
}

// upload builds the whole multipart body in memory first, as examples of mime/multipart do.
func (c *byHand) upload(ctx context.Context, d *digest) error {
	var body bytes.Buffer
	body.Grow(uploadSize + 4096) // the size is known, and growing would copy the content
	form := multipart.NewWriter(&body)
	if err := writeForm(form); err != nil {
		return err
	}
	return c.uploadForm(ctx, d, &body, form)
}

// uploadPiped writes the body while it is sent, with a second goroutine.
func (c *byHand) uploadPiped(ctx context.Context, d *digest) error {
	from, to := io.Pipe()
	defer from.Close()
	form := multipart.NewWriter(to)
	go func() { to.CloseWithError(writeForm(form)) }()
	return c.uploadForm(ctx, d, from, form)
}

func (c *byHand) uploadForm(ctx context.Context, d *digest, body io.Reader, form *multipart.Writer) error {
	var file struct {
		ID       int64  `json:"id"`
		Name     string `json:"name"`
		Checksum string `json:"checksum"`
	}
	err := c.decode(ctx, http.MethodPost, c.base+"/api/v4/projects/1/secure_files", body, form.FormDataContentType(), &file)
	d.add(file.Name, file.Checksum, file.ID, 0)
	return err
}

func writeForm(form *multipart.Writer) error {
	if err := form.WriteField("name", "archive"); err != nil {
		return err
	}
	part, err := form.CreateFormFile("file", "archive")
	if err != nil {
		return err
	}
	if _, err := io.Copy(part, content()); err != nil {
		return err
	}
	return form.Close()
}

func (c *peer) upload(ctx context.Context, d *digest) error {
	file, _, err := c.client.SecureFiles.CreateSecureFile(1, content(), &gitlab.CreateSecureFileOptions{Name: new("archive")}, gitlab.WithContext(ctx))
	if err == nil {
		d.add(file.Name, file.Checksum, file.ID, 0)
	}
	return err
}

// download measures two ways to read an archive: with the same buffer for all, and as most programs
// copy. The peer writes to the same sink in its own way.
func download(ctx context.Context, b *bench) ([]line, error) {
	base := b.at("n1")
	us, hand := newOurs(base), newHand(base, transport())
	rounds := b.scaled(11, 3)
	equal, err := race{rounds: rounds, times: 1}.run(ctx, []contender{{forgeName, us.archive(same)}, {handName, hand.archive(same)}})
	if err != nil {
		return nil, err
	}
	copied, err := race{rounds: rounds, times: 1}.run(ctx, []contender{
		{forgeName, us.archive(usual)}, {handName, hand.archive(usual)}, {peerName, newPeer(base).archive},
	})
	if err != nil {
		return nil, err
	}
	lines := append(costs(equal, forgeName, ", same sink and buffer of 64 KiB"), costs(copied, forgeName, ", io.Copy")...)
	// The code by hand is the floor: 5 % is what other load of the machine changes.
	lines[0].handTarget, lines[1].handTarget = 1.05, 1.05
	grown, err := children{work: "archive", base: base, turns: b.scaled(7, 3)}.run(ctx, forgeName, handName)
	if err != nil {
		return nil, err
	}
	memory := childLine(grown, "memory above start", aboveOf, showBytes)
	memory.noisy, memory.limit = true, 2<<20
	return append(lines, memory), nil
}

func upload(ctx context.Context, b *bench) ([]line, error) {
	base := b.at("n1")
	taken, err := race{rounds: 3 * b.rounds, times: 4}.run(ctx, []contender{
		{forgeName, newOurs(base).upload},
		{handName, newHand(base, transport()).upload},
		{pipedName, newHand(base, transport()).uploadPiped},
		{peerName, newPeer(base).upload},
	})
	lines := costs(taken, forgeName, "")
	bytes := lineOf(taken, forgeName, "bytes allocated", heap, showBytes)
	bytes.floor, bytes.limit, bytes.peerTarget, lines[0].handTarget = taken[pipedName].of(heap), 128<<10, 0.02, 0.6
	// The floor of time: the same work by hand without the body in memory.
	for i, pick := range []metric{wall, cpu, allocs} {
		lines[i].floor = taken[pipedName].of(pick)
	}
	lines[0].floorTarget, lines[1].floorTarget = 1.05, 1.05
	return append([]line{bytes}, lines...), err
}

const pipedName = "by hand, piped"
