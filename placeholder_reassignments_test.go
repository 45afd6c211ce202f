package forge

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/contracttest/catalogue"
)

func TestPlaceholderReassignments(t *testing.T) {
	csvType := map[string]string{"Content-Type": "text/csv"}
	const path = "/groups/group%2Fteam/placeholder_reassignments"
	team := Path("group/team")
	runScenarios(t, []scenario{
		{
			name: "list",
			exchanges: []exchange{
				{sent: "GET " + path, answer: "placeholder_reassignments/reassignments.csv", header: csvType},
				{sent: "GET " + path, answer: "placeholder_reassignments/reassignments_gitlab.csv", header: csvType},
				{sent: "GET " + path, answer: "placeholder_reassignments/reassignments.csv", header: csvType},
			},
			run: func(t *testing.T, c *Client) {
				rows := c.PlaceholderReassignments.List(t.Context(), team)
				for range 2 { // a second range sends a new request
					all, err := Collect(rows)
					require.NoError(t, err)
					require.Len(t, all, 3)
					all[0].header, all[1].header, all[2].header = nil, nil, nil
					assert.Equal(t, []*PlaceholderReassignment{
						{SourceHost: "github.example.com", ImportType: "github", SourceUserIdentifier: "alice_1", SourceUserName: "Alice Alison", SourceUsername: "alice"},
						{SourceHost: "github.example.com", ImportType: "github", SourceUserIdentifier: "bob_2", SourceUserName: `Bob "B" Bobson, Jr.`, SourceUsername: "bob", Username: "bob"},
						{SourceHost: "github.example.com", ImportType: "github", SourceUserIdentifier: "eve_3", SourceUserName: "Eve\nAdams", SourceUsername: "eve", PublicEmail: "eve@example.com"},
					}, all)
				}
				for row, err := range rows {
					require.NoError(t, err)
					assert.Equal(t, "alice", row.SourceUsername)
					break
				}
			},
		},
		{
			name: "download",
			exchanges: []exchange{
				{sent: "GET " + path, answer: "placeholder_reassignments/reassignments.csv", header: map[string]string{"Content-Type": "text/csv", "Content-Disposition": `attachment; filename="r.csv"`}},
			},
			run: func(t *testing.T, c *Client) {
				file, err := c.PlaceholderReassignments.Download(t.Context(), team)
				require.NoError(t, err)
				defer file.Close()
				content, err := io.ReadAll(file)
				require.NoError(t, err)
				assert.Equal(t, string(readFixture(t, "placeholder_reassignments/reassignments.csv")), string(content))
				assert.Equal(t, "r.csv", file.Name)
			},
		},
		{
			name: "upload",
			exchanges: []exchange{
				{sent: "POST " + path, form: "file=@r.csv:Source host\nx\n", status: 201, answer: "placeholder_reassignments/message.json"},
				{sent: "POST " + path, form: "file=@file:x", status: 400, answer: `{"message":"The provided CSV was not correctly formatted"}`},
				{sent: "POST " + path, form: "file=@file:x", status: 502},
			},
			run: func(t *testing.T, c *Client) {
				message, err := c.PlaceholderReassignments.Upload(t.Context(), team, FileBytes([]byte("Source host\nx\n")).Named("r.csv"))
				require.NoError(t, err)
				assertWhole(t, "placeholder_reassignments/message.json", message)
				_, err = c.PlaceholderReassignments.Upload(t.Context(), team, FileBytes([]byte("x")))
				require.ErrorIs(t, err, ErrBadRequest)
				_, err = c.PlaceholderReassignments.Upload(t.Context(), team, FileBytes([]byte("x")))
				var failed *Error
				require.ErrorAs(t, err, &failed)
				assert.True(t, failed.MaybeApplied && failed.Attempts == 1)
				_, err = c.PlaceholderReassignments.Upload(t.Context(), team, File{})
				assertRefused(t, err, "File", "file")
			},
		},
		{
			name: "errors",
			exchanges: []exchange{
				{sent: "GET " + path, status: 403, answer: `{"message":"403 Forbidden"}`},
				{sent: "GET " + path, answer: "<html>Sign in</html>", header: map[string]string{"Content-Type": "text/html"}},
				{sent: "GET " + path, answer: `Source host`, header: map[string]string{"Content-Length": "9999"}},
			},
			run: func(t *testing.T, c *Client) {
				rows, err := Collect(c.PlaceholderReassignments.List(t.Context(), team))
				require.ErrorIs(t, err, ErrForbidden)
				assert.Empty(t, rows)
				_, err = Collect(c.PlaceholderReassignments.List(t.Context(), team))
				require.ErrorIs(t, err, ErrInvalidResponse)
				require.ErrorContains(t, err, "an HTML page instead of the file")
				_, err = Collect(c.PlaceholderReassignments.List(t.Context(), team))
				var failed *Error
				require.ErrorAs(t, err, &failed, "a truncated file")
				_, err = Collect(c.PlaceholderReassignments.List(t.Context(), team, OnePage()))
				assertRefused(t, err, "OnePage", "")
			},
		},
	})
}

// TestReassignmentsStoppedEarly checks that a loop that is left releases the connection, and that
// rows are yielded while the file arrives.
func TestReassignmentsStoppedEarly(t *testing.T) {
	file := readFixture(t, "placeholder_reassignments/reassignments.csv")
	left, stop := make(chan struct{}), make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write(file)
		_ = http.NewResponseController(w).Flush()
		select { // the file never ends
		case <-r.Context().Done():
			close(left)
		case <-stop:
		}
	}))
	defer srv.Close()
	defer close(stop)
	c, err := NewClient(srv.URL)
	require.NoError(t, err)
	for row, err := range c.PlaceholderReassignments.List(t.Context(), ID(7)) {
		require.NoError(t, err)
		assert.Equal(t, "alice", row.SourceUsername)
		break
	}
	select {
	case <-left:
	case <-time.After(time.Minute):
		require.Fail(t, "the connection is still open")
	}
}

// changed returns the rows with a change, like a program that completes a file.
func changed(rows iter.Seq2[*PlaceholderReassignment, error], change func(*PlaceholderReassignment)) iter.Seq2[*PlaceholderReassignment, error] {
	return func(yield func(*PlaceholderReassignment, error) bool) {
		for row, err := range rows {
			if err == nil {
				change(row)
			}
			if !yield(row, err) {
				return
			}
		}
	}
}

func byHand(rows ...*PlaceholderReassignment) iter.Seq2[*PlaceholderReassignment, error] {
	return func(yield func(*PlaceholderReassignment, error) bool) {
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
	}
}

// TestReassignmentFiles checks that a file that is read and written keeps its words, its columns
// and their order.
func TestReassignmentFiles(t *testing.T) {
	s := serve(t).PlaceholderReassignments
	neutral, gitlab := string(readFixture(t, "placeholder_reassignments/reassignments.csv")), string(readFixture(t, "placeholder_reassignments/reassignments_gitlab.csv"))
	for name, file := range map[string]string{
		"neutral": neutral, "gitlab": gitlab,
		"other columns": "Note,Platform public email,Platform username,Source username,Source user name,Source user identifier,Import type,Source host,Reviewed\n" +
			"\"a, b\",ada@example.com,ada,a,A,1,github,host,yes\n,,,,,,,,\n",
		"header only": strings.SplitAfter(neutral, "\n")[0],
	} {
		var out bytes.Buffer
		require.NoError(t, s.WriteCSV(&out, s.ReadCSV(strings.NewReader(file))), name)
		assert.Equal(t, file, out.String(), name)
	}
	var out bytes.Buffer
	require.NoError(t, s.WriteCSV(&out, changed(s.ReadCSV(strings.NewReader("\ufeff"+strings.ReplaceAll(gitlab, "\n", "\r\n"))), func(row *PlaceholderReassignment) {
		row.Username, row.PublicEmail = "new-"+row.SourceUsername, ""
	})))
	assert.Contains(t, out.String(), ",GitLab username,GitLab public email\ngithub.example.com,github,alice_1,Alice Alison,alice,new-alice,\n")

	for row, err := range s.ReadCSV(strings.NewReader("Note,Platform public email,GitLab username,Source username,Source user name,Source user identifier,Import type,Source host\nn,e,u,a,A,1,i,h")) {
		require.NoError(t, err)
		row.header = nil
		assert.Equal(t, &PlaceholderReassignment{SourceHost: "h", ImportType: "i", SourceUserIdentifier: "1", SourceUserName: "A", SourceUsername: "a", Username: "u", PublicEmail: "e",
			Extra: map[string]string{"Note": "n"}}, row)
	}
}

// TestReassignmentVocabulary checks the words of rows that a program creates, and the words that a
// client's vocabulary adds for reading.
func TestReassignmentVocabulary(t *testing.T) {
	row := &PlaceholderReassignment{SourceHost: "h", Username: "ada", Extra: map[string]string{"B": "2", "A": "1"}}
	for vocabulary, words := range map[Vocabulary]string{
		"":     "Platform username,Platform public email",
		GitLab: "GitLab username,GitLab public email",
		"column Platform username = Acme username\ncolumn Platform public email = Acme mail": "Acme username,Acme mail",
	} {
		c, err := serve(t).With(WithVocabulary(vocabulary))
		require.NoError(t, err)
		var out bytes.Buffer
		require.NoError(t, c.PlaceholderReassignments.WriteCSV(&out, byHand(row)))
		assert.Equal(t, "Source host,Import type,Source user identifier,Source user name,Source username,"+words+",A,B\nh,,,,,ada,,1,2\n", out.String())
		rows, err := Collect(c.PlaceholderReassignments.ReadCSV(&out))
		require.NoError(t, err)
		rows[0].header = nil
		assert.Equal(t, row, rows[0])
	}
	_, err := Collect(serve(t).PlaceholderReassignments.ReadCSV(strings.NewReader("Source host,Import type,Source user identifier,Source user name,Source username,Acme username,Platform public email\n")))
	require.ErrorContains(t, err, `no column "Platform username"`)
}

func TestBadReassignmentFiles(t *testing.T) {
	s := serve(t).PlaceholderReassignments
	header := strings.SplitAfter(string(readFixture(t, "placeholder_reassignments/reassignments.csv")), "\n")[0]
	for file, text := range map[string]string{
		"":      "empty",
		"a;b\n": "separated by commas",
		strings.TrimSuffix(header, "\n") + ",Source host\n":     `two columns "Source host"`,
		strings.TrimSuffix(header, "\n") + ",GitLab username\n": `two columns "GitLab username"`,
		strings.TrimSuffix(header, "\n") + ",Note,Note\n":       `two columns "Note"`,
		header + "a,b\n":             "line 2",
		header + "\"a,b,c,d,e,f,g\n": "line",
		header + "\"" + strings.Repeat("a,\n", maxReassignment) + "\"": "longer than 1 MiB",
		"\"" + strings.Repeat("a", 2*maxReassignment):                  "longer than 1 MiB",
	} {
		rows, err := Collect(s.ReadCSV(strings.NewReader(file)))
		require.ErrorContains(t, err, text, file[:min(len(file), 200)])
		assert.Empty(t, rows)
		assert.Less(t, len(err.Error()), 1000)
	}
	broken := errors.New("broken")
	long := header + strings.Repeat("h,i,1,n,u,,\n", 100_000) // more than the limit of one row
	n := 0
	for _, err := range s.ReadCSV(io.MultiReader(strings.NewReader(long), iotest.ErrReader(broken))) {
		if err != nil {
			require.ErrorIs(t, err, broken)
			break
		}
		n++
	}
	assert.Equal(t, 100_000, n)

	var out bytes.Buffer
	require.ErrorIs(t, s.WriteCSV(&out, s.ReadCSV(iotest.ErrReader(broken))), broken)
	require.ErrorContains(t, s.WriteCSV(&out, changed(s.ReadCSV(strings.NewReader(header+"h,i,1,n,u,,\n")), func(row *PlaceholderReassignment) {
		row.Extra = map[string]string{"Note": "n"}
	})), `no column "Note"`, "a value is not lost")
	require.ErrorContains(t, s.WriteCSV(&out, byHand(&PlaceholderReassignment{Extra: map[string]string{"Source host": "h"}})), "Source host")
	require.ErrorContains(t, s.WriteCSV(&out, changed(s.ReadCSV(strings.NewReader(header[:len(header)-1]+",Known\nh,i,1,n,u,,,k\n")), func(row *PlaceholderReassignment) {
		row.Extra["Unknown"] = "n"
	})), `no column "Unknown"`)
	require.ErrorIs(t, s.WriteCSV(failingWriter{broken}, s.ReadCSV(strings.NewReader(long))), broken)
	require.ErrorIs(t, s.WriteCSV(failingWriter{broken}, byHand()), broken)
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

// TestReassignmentColumns compares the columns with the catalogue, where they are the fields of a
// type.
func TestReassignmentColumns(t *testing.T) {
	var types map[string]struct{ Fields []catalogue.Field }
	require.NoError(t, json.Unmarshal(readFixture(t, "spec/types.json"), &types))
	var columns []string
	for _, f := range types["PlaceholderReassignmentRow"].Fields {
		columns = append(columns, f.Name)
		assert.NotNil(t, new(PlaceholderReassignment).field(f.Name))
	}
	assert.Equal(t, columns, reassignmentColumns())
}

// The functions that read and write files of the caller report a nil argument.
func TestNilFilesOfReassignments(t *testing.T) {
	s := silentServer(t).PlaceholderReassignments
	var none iter.Seq2[*PlaceholderReassignment, error]
	for name, call := range map[string]func() error{
		"Read": func() error {
			_, err := Collect(s.ReadCSV(nil))
			return err
		},
		"Read of a typed nil": func() error {
			_, err := Collect(s.ReadCSV((*os.File)(nil)))
			return err
		},
		"Write":              func() error { return s.WriteCSV(nil, byHand()) },
		"Write of no rows":   func() error { return s.WriteCSV(io.Discard, nil) },
		"Write of a nil row": func() error { return s.WriteCSV(io.Discard, byHand(nil)) },
		"Collect": func() error {
			_, err := Collect(none)
			return err
		},
	} {
		o := ends(t, call)
		require.Error(t, o.err, "%s: %v", name, o.panicked)
		assert.True(t, strings.HasPrefix(o.err.Error(), "forge: "), "%s: %v", name, o.err)
	}
}
