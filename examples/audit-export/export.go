package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/examples/internal/demo"
)

// export is a folder with one file for each day.
type export struct {
	state
	client *forge.Client
	list   forge.Call
	source string // of this run
	dir    string
	out    io.Writer
}

// state is the content of audit-export.json. The file is replaced atomically, so that the cursor
// and the length always belong together.
type state struct {
	// Source is the instance, group or project whose events are in the folder.
	Source string `json:"source"`
	// First is the first day of the folder.
	First time.Time `json:"first"`
	// Day is the first day that is not complete.
	Day time.Time `json:"day"`
	// Cursor names the first page of that day that is not in its file.
	Cursor forge.Cursor `json:"cursor"`
	// Bytes is the length of the file without that page.
	Bytes int64 `json:"bytes"`
	// Events is the number of events before that page.
	Events int `json:"events"`
}

func (e *export) statePath() string { return filepath.Join(e.dir, "audit-export.json") }
func (e *export) dayPath() string   { return filepath.Join(e.dir, date(e.Day)+".ndjson") }
func (e *export) partPath() string  { return e.dayPath() + ".part" }

// open reads the state of the folder. A new folder begins with first.
func (e *export) open(first time.Time, chosen bool) error {
	if err := os.MkdirAll(e.dir, 0o700); err != nil {
		return err
	}
	text, err := os.ReadFile(e.statePath())
	if errors.Is(err, fs.ErrNotExist) {
		e.state = state{Source: e.source, First: first, Day: first}
		return nil
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &e.state); err != nil {
		return fmt.Errorf("%s is damaged (%w): remove it, and name the first day that is missing with -since", e.statePath(), err)
	}
	switch {
	case e.Source != e.source:
		return fmt.Errorf("%s has the events of %s: choose another folder for %s", e.dir, e.Source, e.source)
	case chosen && first.Before(e.First):
		return fmt.Errorf("%s begins with %s: choose another folder for the days before", e.dir, date(e.First))
	}
	return nil
}

// exportDay exports one day, or the rest of a day that an earlier run has begun.
func (e *export) exportDay(ctx context.Context) error {
	if e.Cursor == "" {
		if _, err := os.Lstat(e.dayPath()); err == nil {
			return fmt.Errorf("%s is there, and is not in %s: move it away", e.dayPath(), e.statePath())
		}
	}
	if !e.Cursor.Done() {
		if err := e.fetch(ctx); err != nil {
			return e.explain(err)
		}
	}
	return e.complete()
}

// explain adds to an error how to continue.
func (e *export) explain(err error) error {
	var refused *forge.ValidationError
	switch {
	case errors.As(err, &refused) && refused.Option == "StartAt":
		return fmt.Errorf("%w\nRemove %s: the same command then exports the day from its beginning", err, e.partPath())
	case e.Events > 0:
		return fmt.Errorf("%w\n%s has %s; the same command continues after them", err, e.partPath(), demo.Count(e.Events, "event"))
	}
	return err
}

// complete renames the file to its final name and moves on to the next day. After a crash between
// the two, only the second step is left.
func (e *export) complete() error {
	if err := os.Rename(e.partPath(), e.dayPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	done := e.state
	if err := e.begin(e.Day.AddDate(0, 0, 1)); err != nil {
		return err
	}
	fmt.Fprintf(e.out, "%s  %s, %s\n", date(done.Day), demo.Count(done.Events, "event"), demo.Count(int(done.Bytes), "byte"))
	return nil
}

// fetch appends the events of the day that are not in the file.
func (e *export) fetch(ctx context.Context) (err error) {
	file, err := e.openPart()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	end, list, buffer := e.Day.AddDate(0, 0, 1), e.list, bufio.NewWriter(file)
	list.Query = url.Values{"created_after": {e.Day.Format(time.RFC3339)}, "created_before": {end.Format(time.RFC3339)}}
	read := e.state // with the page that is not saved
	save := func(cursor forge.Cursor) error {
		if err := errors.Join(buffer.Flush(), file.Sync()); err != nil {
			return err
		}
		read.Cursor = cursor
		return e.save(read)
	}
	var page forge.Response
	for event, err := range forge.ListAs[json.RawMessage](ctx, e.client, list, forge.StartAt(e.Cursor), forge.Into(&page), forge.Ahead(1)) {
		if err != nil {
			return err
		}
		if page.Cursor != e.Cursor { // the first event of a page: all pages before it are written
			if err := save(page.Cursor); err != nil {
				return err
			}
		}
		line, at, err := encode(*event)
		if err != nil {
			return err
		}
		if !at.Before(end) { // created_before includes the first moment of the next day
			continue
		}
		n, err := buffer.Write(line)
		if err != nil {
			return err
		}
		read.Bytes += int64(n)
		read.Events++
	}
	return save(page.Cursor)
}

// openPart opens the file of the day, and truncates it to the length in the state: what follows is
// incomplete, or belongs to a page that is read again. If the file was removed or is shorter, the
// day begins again.
func (e *export) openPart() (*os.File, error) {
	file, err := os.OpenFile(e.partPath(), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && (info.Size() == 0 || info.Size() < e.Bytes) {
		err = e.begin(e.Day)
	}
	if err == nil {
		err = file.Truncate(e.Bytes)
	}
	if err == nil {
		_, err = file.Seek(e.Bytes, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if e.Events > 0 {
		fmt.Fprintf(e.out, "%s  continues after %s\n", date(e.Day), demo.Count(e.Events, "event"))
	}
	return file, nil
}

// encode returns an event as the server sent it, on one line, and its time.
func encode(event json.RawMessage) (text []byte, at time.Time, err error) {
	var head struct {
		CreatedAt time.Time `json:"created_at"`
	}
	if err := json.Unmarshal(event, &head); err != nil {
		return nil, at, fmt.Errorf("created_at of an event: %w", err)
	}
	var line bytes.Buffer
	err = json.Compact(&line, event)
	line.WriteByte('\n')
	return line.Bytes(), head.CreatedAt, err
}

// begin replaces the state by one in which a day has no events yet.
func (e *export) begin(day time.Time) error {
	return e.save(state{Source: e.Source, First: e.First, Day: day})
}

// save replaces the state.
func (e *export) save(s state) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if err := demo.SaveBytes(e.statePath(), true, append(text, '\n')); err != nil {
		return err
	}
	e.state = s
	return nil
}
