package main

import (
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"time"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/examples/internal/demo"
)

// row is a line of a file.
type row struct {
	Kind string `json:"kind"`
	ID   int64  `json:"id"`
	// UpdatedAt is the time of the change; that of an audit event is its creation.
	UpdatedAt time.Time `json:"updated_at"`
	// Item is what the server sent.
	Item any `json:"item"`
}

// written is a complete file, or none if there are no rows.
type written struct {
	name string // below the folder
	rows int64
	mark forge.Mark
	more bool // the shard has more changes
}

// fileName returns the name of the file of an attempt. No other attempt has the same.
func (c claim) fileName() string {
	return filepath.Join(filepath.FromSlash(c.shard), strconv.FormatInt(c.epoch, 10)+".jsonl.gz")
}

// errNoRows ends the writing of a file that would be empty.
var errNoRows = errors.New("no rows")

// write writes the file of the shard: complete and synced under its name, or not at all.
func (e *exporter) write(ctx context.Context, c claim) (file written, err error) {
	file.name = c.fileName()
	path := filepath.Join(e.dir, file.name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return file, fmt.Errorf("%w: the folder of -dir needs space, and rights for this user", err)
	}
	var failed error // of the feed or of the file
	err = demo.SaveFile(path, false, func(w io.Writer) error {
		compressed := gzip.NewWriter(w)
		if failed = e.copy(ctx, c, json.NewEncoder(compressed), &file); failed != nil {
			return failed
		}
		if file.rows == 0 {
			return errNoRows
		}
		return compressed.Close()
	})
	var ofFile *fs.PathError
	switch {
	case errors.Is(err, errNoRows):
		return file, nil
	case errors.As(err, &ofFile):
		return file, fmt.Errorf("%w: the folder of -dir needs space, and rights for this user", err)
	default:
		return file, cmp.Or(failed, err)
	}
}

// copy reads the feed until its end, or until the time of the job has ended. Then the mark is
// that of the rows before, and of the periods without rows.
func (e *exporter) copy(ctx context.Context, c claim, out *json.Encoder, file *written) error {
	reading, cancel := context.WithTimeout(ctx, e.part)
	defer cancel()
	go func() {
		select {
		case <-e.ending:
			cancel()
		case <-reading.Done():
		}
	}()
	var page forge.Response
	for row, err := range e.feed(reading, c, &page) {
		if err != nil {
			if reading.Err() != nil && ctx.Err() == nil && page.Mark != forge.Mark(c.mark) {
				file.more = true
				break
			}
			return err
		}
		if err := out.Encode(row); err != nil {
			return err
		}
		file.rows++
	}
	file.mark = page.Mark
	return nil
}

// feed returns what has changed in the shard since its mark.
func (e *exporter) feed(ctx context.Context, c claim, page *forge.Response) iter.Seq2[row, error] {
	options := []forge.RequestOption{forge.Since(forge.Mark(c.mark)), forge.Into(page), forge.PerPage(100)}
	kind, id := c.kind()
	switch kind {
	case kindAuditEvents:
		return rows(e.client.AuditEvents.List(ctx, nil, options...), func(v *forge.AuditEvent) row {
			return row{kind, v.ID, v.CreatedAt, v}
		})
	case kindIssues:
		call := forge.Call{Route: "/projects/:id/issues", Args: []forge.Arg{demo.Ref(id)}}
		return rows(forge.ListAs[forge.Issue](ctx, e.client, call, options...), func(v *forge.Issue) row {
			return row{kind, v.ID, v.UpdatedAt, v}
		})
	default:
		return rows(e.client.MergeRequests.ListForProject(ctx, demo.Ref(id), nil, options...), func(v *forge.MergeRequest) row {
			return row{kind, v.ID, v.UpdatedAt, v}
		})
	}
}

func rows[T any](list iter.Seq2[*T, error], of func(*T) row) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		for item, err := range list {
			if err != nil {
				yield(row{}, err)
				return
			}
			if !yield(of(item), nil) {
				return
			}
		}
	}
}

// removeOrphans removes the files of the shard that have no entry: those of attempts that were
// killed. Older attempts can store nothing any more, so none of these files will get an entry.
func (e *exporter) removeOrphans(ctx context.Context, c claim) error {
	dir := filepath.Dir(filepath.Join(e.dir, c.fileName()))
	files, err := os.ReadDir(dir)
	if err != nil || len(files) == 0 {
		return nil //nolint:nilerr // the first attempt makes the folder
	}
	known := map[string]bool{}
	err = e.db.query(ctx, func(scan func(...any) error) error {
		var name string
		err := scan(&name)
		known[filepath.Base(name)] = true
		return err
	}, `SELECT name FROM export_files WHERE shard = $1`, c.shard)
	if err != nil {
		return err
	}
	for _, file := range files {
		if !known[file.Name()] && !file.IsDir() {
			if err := os.Remove(filepath.Join(dir, file.Name())); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}
