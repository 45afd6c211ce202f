package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/examples/internal/demo"
)

// state is the content of the file next to the export.
type state struct {
	// Cursor names the first page that is not in the file.
	Cursor forge.Cursor `json:"cursor"`
	// Size is the length of the file without that page, in bytes.
	Size int64 `json:"size"`
	// Events is the number of events before that page.
	Events int `json:"events"`
}

// exporter is an export in progress.
type exporter struct {
	state
	file    *os.File
	buffer  *bufio.Writer
	pending state // the state after what was written since it was saved
}

func (e *exporter) statePath() string { return e.file.Name() + ".state" }

// explain adds to an error how to resume, or why this file cannot be resumed.
func (e *exporter) explain(err error) error {
	var refused *forge.ValidationError
	switch {
	case errors.As(err, &refused) && refused.Option == "StartAt":
		return fmt.Errorf("%s cannot be gone on with (%s): give the flags that it was begun with, or choose another file with -file", e.file.Name(), refused.Reason)
	case e.Events > 0:
		return fmt.Errorf("%w\n%s has %s; the same command goes on from there", err, e.file.Name(), demo.Count(e.Events, "event"))
	}
	return err
}

// openExport opens the file and rewinds it to its saved state.
func openExport(path string) (*exporter, error) {
	if err := demo.CheckRegular(path); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	e := &exporter{file: file, buffer: bufio.NewWriter(file)}
	if err = e.restore(); err == nil {
		err = e.rewind()
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return e, nil
}

// restore reads the state. Without one the export starts from the beginning.
func (e *exporter) restore() error {
	text, err := os.ReadFile(e.statePath())
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	if err := json.Unmarshal(text, &e.state); err != nil {
		return fmt.Errorf("%s is damaged (%w): remove it and %s to start over", e.statePath(), err, e.file.Name())
	}
	return nil
}

// rewind truncates the file to the length in the state. A non-empty file without a state is an
// error: another program may have written it.
func (e *exporter) rewind() error {
	info, err := e.file.Stat()
	switch {
	case err != nil:
		return err
	case e.Cursor == "" && info.Size() > 0:
		return fmt.Errorf("%s is there, and %s is not: remove the file, or choose another with -file", e.file.Name(), e.statePath())
	case info.Size() < e.Size:
		return fmt.Errorf("%s is shorter than it was: remove it and %s to start over", e.file.Name(), e.statePath())
	}
	e.pending = e.state
	_, err = e.file.Seek(e.Size, io.SeekStart)
	return errors.Join(err, e.file.Truncate(e.Size))
}

// add writes one event, on its own line.
func (e *exporter) add(event json.RawMessage) error {
	var line bytes.Buffer
	if err := json.Compact(&line, event); err != nil {
		return err
	}
	line.WriteByte('\n')
	n, err := e.buffer.Write(line.Bytes())
	e.pending.Size += int64(n)
	e.pending.Events++
	return err
}

// save writes the buffered events to disk, and then replaces the state atomically.
func (e *exporter) save(cursor forge.Cursor) error {
	if err := errors.Join(e.buffer.Flush(), e.file.Sync()); err != nil {
		return err
	}
	e.pending.Cursor = cursor
	text, err := json.Marshal(e.pending)
	if err != nil {
		return err
	}
	if err := demo.SaveBytes(e.statePath(), true, append(text, '\n')); err != nil {
		return err
	}
	e.state = e.pending
	return nil
}
