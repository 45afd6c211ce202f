package forge

import (
	"context"
	"io"
	"iter"
	"strings"
)

// PlaceholderReassignmentsService assigns the contributions of placeholder users, which an import
// created, to real users: read the rows, fill them in, and upload them as one file. The user must
// be Owner of the group. An import into a personal namespace has no placeholder users.
// GitLab docs: https://docs.gitlab.com/api/group_placeholder_reassignments/
type PlaceholderReassignmentsService struct{ service }

// List reads the rows of the file of pending reassignments, one at a time while it arrives, in
// constant memory. Ranging again requests the file again. A truncated file ends the list with an
// error. GitLab docs: https://docs.gitlab.com/api/group_placeholder_reassignments/
func (s *PlaceholderReassignmentsService) List(ctx context.Context, group Ref, opts ...RequestOption) iter.Seq2[*PlaceholderReassignment, error] {
	r := s.newGet("/groups/:id/placeholder_reassignments", group)
	return s.list(ctx, r, opts)
}

// Download streams the file of pending reassignments unchanged.
// GitLab docs: https://docs.gitlab.com/api/group_placeholder_reassignments/
func (s *PlaceholderReassignmentsService) Download(ctx context.Context, group Ref, opts ...RequestOption) (*Download, error) {
	r := s.newGet("/groups/:id/placeholder_reassignments", group)
	return open(ctx, r, opts)
}

// Upload sends the file with its rows filled in. The server processes it later, and reports by mail
// when it is done. It returns ErrNotFound for an import into a personal namespace. After a failure
// with Error.MaybeApplied the server may process the file.
// GitLab docs: https://docs.gitlab.com/api/group_placeholder_reassignments/
func (s *PlaceholderReassignmentsService) Upload(ctx context.Context, group Ref, file File, opts ...RequestOption) (*Message, error) {
	r := s.newPost("/groups/:id/placeholder_reassignments", group).upload(nil, "file", file)
	return do[Message](ctx, r, opts)
}

// ReadCSV reads the rows of a saved file, one at a time, in constant memory. The columns may be in
// any order, and have GitLab's names or those of the documents. The rows can be ranged over once.
// An error is yielded once, as the last pair. The last row may have no line end, so ReadCSV does
// not detect a truncated last field; List and Download do.
func (s *PlaceholderReassignmentsService) ReadCSV(file io.Reader) iter.Seq2[*PlaceholderReassignment, error] {
	return func(yield func(*PlaceholderReassignment, error) bool) {
		if err := readReassignments(file, s.owner(), false, yield); err != nil {
			yield(nil, err)
		}
	}
}

// WriteCSV writes rows as a file for Upload, one at a time, in constant memory. The rows may come
// from List or ReadCSV, with changes. The first row determines the header. If the row was read from
// a file, the header is that of the file; otherwise it has the contract's columns, in the words of
// the client's vocabulary, and the columns of the row's Extra. A row with a value for which the
// header has no column is an error. WriteCSV stops at the first error in rows; the file is then
// unusable.
func (s *PlaceholderReassignmentsService) WriteCSV(file io.Writer, rows iter.Seq2[*PlaceholderReassignment, error]) error {
	return writeReassignments(file, s.owner().config.vocabulary, rows)
}

// list reads the rows of a Download.
func (s *PlaceholderReassignmentsService) list(ctx context.Context, r *request, opts []RequestOption) iter.Seq2[*PlaceholderReassignment, error] {
	return func(yield func(*PlaceholderReassignment, error) bool) {
		file, err := open(ctx, r, opts)
		if err != nil {
			yield(nil, err)
			return
		}
		defer file.Close()
		core := s.owner()
		if err := readReassignments(file, core, file.Size < 0, recordColumns(core.config.drift.watch(r.route, core.safeText), yield)); err != nil {
			yield(nil, file.unusable(err))
		}
	}
}

// recordColumns returns a yield that records the unknown columns of a file. A nil record records
// nothing.
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
