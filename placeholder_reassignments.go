package forge

import (
	"context"
	"io"
	"iter"
	"strings"
)

// PlaceholderReassignmentsService assigns the contributions of placeholder users, which an import has made, to real users (Document 2
// §4.6): read the rows, fill them in, and upload them as one file. It needs the role Owner in the group. An import into a personal
// namespace has no placeholder users.
type PlaceholderReassignmentsService struct{ service }

// List reads the rows of the file of pending reassignments, one at a time while it arrives, in
// constant memory. Ranging again requests the file again. A truncated file ends the list with an
// error. Document 2 §4.6.
func (s *PlaceholderReassignmentsService) List(ctx context.Context, group Ref, opts ...RequestOption) iter.Seq2[*PlaceholderReassignment, error] {
	r := s.get("/groups/:id/placeholder_reassignments", group)
	return s.list(ctx, r, opts)
}

// Download streams the file of pending reassignments as it is. Document 2 §4.6.
func (s *PlaceholderReassignmentsService) Download(ctx context.Context, group Ref, opts ...RequestOption) (*Download, error) {
	r := s.get("/groups/:id/placeholder_reassignments", group)
	return open(ctx, r, opts)
}

// Upload sends the file with its rows filled in. The server works on it later, and tells by mail when it is done. Sent once: a
// failure with Error.MaybeApplied may have begun it. Document 2 §4.6.
func (s *PlaceholderReassignmentsService) Upload(ctx context.Context, group Ref, file File, opts ...RequestOption) (*Message, error) {
	r := s.post("/groups/:id/placeholder_reassignments", group).upload(nil, "file", file)
	return do[Message](ctx, r, opts)
}

// Read reads the rows of a file that was saved, one at a time, in constant memory. The columns may be in any order, and have the contract's
// names, GitLab's, or those of the client's vocabulary. It can be ranged over once. An error is yielded once, last. A last row may end
// without a line end, so a truncated last field is not found; List and Download find it.
func (s *PlaceholderReassignmentsService) Read(file io.Reader) iter.Seq2[*PlaceholderReassignment, error] {
	return func(yield func(*PlaceholderReassignment, error) bool) {
		if err := readReassignments(file, s.owner().config.vocabulary, false, yield); err != nil {
			yield(nil, err)
		}
	}
}

// Write writes rows as a file for Upload, one at a time, in constant memory; it takes what List and Read give, changed on the way. The
// first row makes the header: that of the file it was read from, else the contract's columns in the words of the client's vocabulary, and
// those of its Extra. A row with a value that the header has no column for is an error. The first error of rows ends the file, which is
// then of no use.
func (s *PlaceholderReassignmentsService) Write(file io.Writer, rows iter.Seq2[*PlaceholderReassignment, error]) error {
	return writeReassignments(file, s.owner().config.vocabulary, rows)
}

// list is Read of a Download.
func (s *PlaceholderReassignmentsService) list(ctx context.Context, r *request, opts []RequestOption) iter.Seq2[*PlaceholderReassignment, error] {
	return func(yield func(*PlaceholderReassignment, error) bool) {
		file, err := open(ctx, r, opts)
		if err != nil {
			yield(nil, err)
			return
		}
		defer file.Close()
		config := &s.owner().config
		if err := readReassignments(file, config.vocabulary, file.Size < 0, recordColumns(config.drift.watch(r.route), yield)); err != nil {
			yield(nil, file.unusable(err))
		}
	}
}

// recordColumns returns a yield that records the columns of a file that no field names. A nil
// record records nothing.
func recordColumns(record func(place, want, got string), yield func(*PlaceholderReassignment, error) bool) func(*PlaceholderReassignment, error) bool {
	if record == nil {
		return yield
	}
	return func(row *PlaceholderReassignment, err error) bool {
		if err == nil {
			for name := range row.Extra {
				record("/*/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(name), "", "string")
			}
		}
		return yield(row, err)
	}
}
