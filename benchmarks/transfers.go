package main

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/forge-sdk/forge-go"
)

// drain reads an archive with a buffer of 64 KiB. Methods of the reader that copy by themselves are
// hidden.
func drain(from io.Reader) error {
	n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{from}, make([]byte, 64<<10))
	if err == nil && n != archive {
		err = fmt.Errorf("an archive of %d bytes", n)
	}
	return err
}

func (c *ours) archive(ctx context.Context, d *digest) error {
	download, err := c.client.Repositories.Archive(ctx, forge.ID(1), nil)
	if err != nil {
		return err
	}
	defer download.Close()
	d.item(nil)
	return drain(download)
}

func (c *byHand) archive(ctx context.Context, d *digest) error {
	d.item(nil)
	return c.send(ctx, http.MethodGet, c.base+"/api/v4/projects/1/repository/archive", http.NoBody, "", func(answer *http.Response) error {
		return drain(answer.Body)
	})
}

// download has the code by hand as its floor: 5 % is what other load of the machine changes.
func download(ctx context.Context, b *bench) ([]line, error) {
	base := b.at("n1")
	taken, err := race{rounds: b.scaled(11, 3), times: 1}.run(ctx, []contender{
		{forgeName, newOurs(base).archive}, {handName, newHand(base, transport()).archive},
	})
	if err != nil {
		return nil, err
	}
	const same = ", same sink and buffer of 64 KiB"
	took, used := lineOf(taken, forgeName, "wall"+same, wall, inTime), lineOf(taken, forgeName, "CPU"+same, cpu, inTime)
	took.HandTarget, used.HandTarget = 1.05, 1.05
	grown, err := children(ctx, "archive", base, b.scaled(7, 3), forgeName, handName)
	return []line{took, used, {
		What: "memory above start", Unit: inBytes, Noisy: true, Limit: 2 << 20, Forge: grown[forgeName].Above, Hand: grown[handName].Above,
	}}, err
}
