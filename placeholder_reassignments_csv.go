package forge

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/forge-sdk/forge-go/internal/safetext"
)

// PlaceholderReassignment is a row of a file of reassignments: a user of the import source, and the
// user who receives the contributions. The server creates the rows; the group's owner fills in
// Username or PublicEmail.
type PlaceholderReassignment struct {
	// SourceHost is the host of the import source.
	SourceHost string
	// ImportType is the kind of import.
	ImportType string
	// SourceUserIdentifier is the user's id on SourceHost.
	SourceUserIdentifier string
	// SourceUserName is the user's display name on SourceHost.
	SourceUserName string
	// SourceUsername is the user's username on SourceHost.
	SourceUsername string
	// Username is the username of the user who receives the contributions: the column GitLab
	// username. The documents call it Platform username.
	Username string
	// PublicEmail is the public e-mail address of the user who receives the contributions: the column
	// GitLab public email. The documents call it Platform public email.
	PublicEmail string
	// Extra holds the columns without a field.
	Extra map[string]string

	header *reassignmentHeader // of the file that the row was read from
}

// Message is a server's response as text.
type Message struct {
	// Message is the text.
	Message string `json:"message"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}

// maxReassignment is the maximum length of a row, in bytes: an unclosed quote would otherwise read
// the whole file into memory.
const maxReassignment = 1 << 20

// reassignmentHeader is the first line of a file. The rows of a file share it; it is never
// modified.
type reassignmentHeader struct {
	names   []string // as in the file
	columns []string // in GitLab's words, where the contract has the column
}

// reassignmentColumns are the contract's columns, in its order.
func reassignmentColumns() []string {
	return []string{"Source host", "Import type", "Source user identifier", "Source user name", "Source username", "GitLab username", "GitLab public email"}
}

// field returns the field of a column of the contract, or nil if there is none.
func (p *PlaceholderReassignment) field(column string) *string {
	switch column {
	case "Source host":
		return &p.SourceHost
	case "Import type":
		return &p.ImportType
	case "Source user identifier":
		return &p.SourceUserIdentifier
	case "Source user name":
		return &p.SourceUserName
	case "Source username":
		return &p.SourceUsername
	case "GitLab username":
		return &p.Username
	case "GitLab public email":
		return &p.PublicEmail
	}
	return nil
}

// readReassignments reads a file row by row. If lineEnd is set, a last row without a line end is an
// error: without an announced length of the file, that row may be truncated.
func readReassignments(file io.Reader, c *core, lineEnd bool, yield func(*PlaceholderReassignment, error) bool) error {
	if isNil(file) {
		return reassignmentError(errors.New("the reader is nil"))
	}
	source := &rowReader{r: file}
	buffered := bufio.NewReader(source)
	mark, err := buffered.Peek(3)
	if err != nil && !source.ended {
		return reassignmentError(err) // Peek consumed it: the reader may not return it again
	}
	if string(mark) == "\ufeff" {
		source.skipped, _ = buffered.Discard(len(mark)) // spreadsheets write one
	}
	if strings.HasPrefix(string(mark), "\xff\xfe") || strings.HasPrefix(string(mark), "\xfe\xff") {
		return reassignmentError(errors.New("it is UTF-16: save it as UTF-8"))
	}
	records := csv.NewReader(buffered)
	records.ReuseRecord = true
	read := func() ([]string, error) {
		source.row = 0
		record, err := records.Read()
		if broken := (*csv.ParseError)(nil); errors.Is(err, csv.ErrFieldCount) && errors.As(err, &broken) {
			err = fmt.Errorf("line %d has %d fields, and the header has %d: %w", broken.StartLine, len(record), records.FieldsPerRecord, err)
		}
		if lineEnd && source.unfinished(records.InputOffset()) {
			err = fmt.Errorf("the last line is truncated: %w", io.ErrUnexpectedEOF)
		}
		return record, err
	}
	first, err := read()
	switch {
	case source.ended && errors.Is(err, io.EOF): // another error may wrap io.EOF
		return errors.New("forge: the file of reassignments is empty: it has no header")
	case err != nil:
		return reassignmentError(err)
	}
	header, err := newReassignmentHeader(slices.Clone(first), c)
	if err != nil {
		return err
	}
	for {
		switch record, err := read(); {
		case source.ended && errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return reassignmentError(err)
		case !yield(header.row(record), nil):
			return nil
		}
	}
}

func reassignmentError(err error) error {
	return fmt.Errorf("forge: reading the file of reassignments: %w", err)
}

// newReassignmentHeader finds the contract's columns. If one is missing, it returns an error: it is
// another file, and a value in its rows would be lost.
func newReassignmentHeader(names []string, c *core) (*reassignmentHeader, error) {
	h := &reassignmentHeader{names: names, columns: make([]string, len(names))}
	var p PlaceholderReassignment
	for i, name := range names {
		column := Neutral.gitlab(columnWord, name) // a file may come from any server
		if slices.Contains(names[:i], name) || p.field(column) != nil && slices.Contains(h.columns[:i], column) {
			return nil, fmt.Errorf("forge: the file of reassignments has two columns %q", c.safeText(name, 256))
		}
		if p.field(column) != nil {
			h.columns[i] = column
		}
	}
	for _, column := range reassignmentColumns() {
		if !slices.Contains(h.columns, column) {
			line := c.safeText(strings.Join(names, ","), 256)
			return nil, fmt.Errorf("forge: the file of reassignments has no column %q; its first line is %q: use the file that the server made, separated by commas", column, line)
		}
	}
	return h, nil
}

// row converts a record to a row.
func (h *reassignmentHeader) row(record []string) *PlaceholderReassignment {
	p := &PlaceholderReassignment{header: h}
	for i, value := range record {
		if field := p.field(h.columns[i]); field != nil {
			*field = value
			continue
		}
		if p.Extra == nil {
			p.Extra = map[string]string{}
		}
		p.Extra[h.names[i]] = value
	}
	return p
}

// orOwn returns the header of the row's file, or a new one if the row was not read from a file.
func (p *PlaceholderReassignment) orOwn(v Vocabulary) *reassignmentHeader {
	if p.header != nil {
		return p.header
	}
	h := &reassignmentHeader{columns: reassignmentColumns()}
	for _, column := range h.columns {
		name, _ := v.wire(columnWord, column)
		h.names = append(h.names, name)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Extra)) {
		if !slices.Contains(h.names, name) { // record rejects the others
			h.names, h.columns = append(h.names, name), append(h.columns, "")
		}
	}
	return h
}

// record converts a row to a record.
func (h *reassignmentHeader) record(p *PlaceholderReassignment) ([]string, error) {
	record := make([]string, len(h.names))
	for i, name := range h.names {
		if field := p.field(h.columns[i]); field != nil {
			record[i] = *field
		} else {
			record[i] = p.Extra[name]
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Extra)) {
		if i := slices.Index(h.names, name); i < 0 || h.columns[i] != "" {
			return nil, fmt.Errorf("forge: writing the file of reassignments: its header has no column %q for a value of Extra", safetext.Clean(name, 256))
		}
	}
	return record, nil
}

// writeReassignments writes a file row by row. An error in rows is returned unchanged.
func writeReassignments(file io.Writer, v Vocabulary, rows iter.Seq2[*PlaceholderReassignment, error]) error {
	if isNil(file) || rows == nil {
		return writingError(errors.New("the writer or the list of rows is nil"))
	}
	records := csv.NewWriter(file)
	var header *reassignmentHeader
	for row, err := range rows {
		switch {
		case err != nil:
			return err
		case row == nil:
			return writingError(errors.New("a row is nil"))
		case header == nil:
			header = row.orOwn(v)
			_ = records.Write(header.names) // Error reports what went wrong
		}
		record, err := header.record(row)
		if err != nil {
			return err
		}
		if err := records.Write(record); err != nil {
			return writingError(err)
		}
	}
	if header == nil {
		_ = records.Write(new(PlaceholderReassignment).orOwn(v).names) // likewise
	}
	if records.Flush(); records.Error() != nil {
		return writingError(records.Error())
	}
	return nil
}

func writingError(err error) error {
	return fmt.Errorf("forge: writing the file of reassignments: %w", err)
}

// rowReader counts the bytes of a row, and records how the file ends.
type rowReader struct {
	r       io.Reader
	row     int   // bytes read for the current row
	total   int64 // bytes read
	skipped int   // bytes before the first row
	last    byte
	ended   bool
}

// Read returns an error once a row is too long.
func (r *rowReader) Read(p []byte) (int, error) {
	if r.row > maxReassignment {
		return 0, errors.New("a row is longer than 1 MiB: a quote may not be closed")
	}
	n, err := r.r.Read(p)
	if r.row += n; n > 0 {
		r.last = p[n-1]
	}
	r.total, r.ended = r.total+int64(n), err == io.EOF
	return n, err
}

// unfinished reports whether the row that ends at offset is the last one and has no line end.
func (r *rowReader) unfinished(offset int64) bool {
	return r.ended && offset+int64(r.skipped) == r.total && r.last != '\n'
}
