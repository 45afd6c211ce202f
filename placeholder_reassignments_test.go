package forge

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPlaceholderReassignments(t *testing.T) {
	const path = "/groups/group%2Fteam/placeholder_reassignments"
	ctx, team := t.Context(), Path("group/team")
	upload := func(c *Client) (any, error) {
		return c.PlaceholderReassignments.Upload(ctx, team, FileBytes([]byte("Source host\nx\n")).Named("r.csv"))
	}
	const form = "file=@r.csv:Source host\nx\n"
	runCalls(t, []callRow{
		{"POST " + path, "", form, "placeholder_reassignments/message.json", upload},
		{"POST " + path, "", form, `400 {"message":"The provided CSV was not correctly formatted"}`, upload},
		{"GET " + path, "", "", `403 {"message":"403 Forbidden"}`, func(c *Client) (any, error) { return Collect(c.PlaceholderReassignments.List(ctx, team)) }},
	})
	file := exchange{sent: "GET " + path, answer: "placeholder_reassignments/reassignments.csv", header: map[string]string{"Content-Type": "text/csv"}}
	gitlab, page := file, file
	gitlab.answer = "placeholder_reassignments/reassignments_gitlab.csv"
	page.answer, page.header = "<html>Sign in</html>", map[string]string{"Content-Type": "text/html"}
	c := serve(t, file, gitlab, file, page)
	for range 2 { // a second range sends a new request
		all, err := Collect(c.PlaceholderReassignments.List(ctx, team))
		require.NoError(t, err)
		require.Len(t, all, 3)
		all[0].header, all[1].header, all[2].header = nil, nil, nil
		assert.Equal(t, []*PlaceholderReassignment{
			{SourceHost: "github.example.com", ImportType: "github", SourceUserIdentifier: "alice_1", SourceUserName: "Alice Alison", SourceUsername: "alice"},
			{SourceHost: "github.example.com", ImportType: "github", SourceUserIdentifier: "bob_2", SourceUserName: `Bob "B" Bobson, Jr.`, SourceUsername: "bob", Username: "bob"},
			{SourceHost: "github.example.com", ImportType: "github", SourceUserIdentifier: "eve_3", SourceUserName: "Eve\nAdams", SourceUsername: "eve", PublicEmail: "eve@example.com"},
		}, all)
	}
	download, err := c.PlaceholderReassignments.Download(ctx, team)
	require.NoError(t, err)
	assert.Equal(t, string(readFixture(t, file.answer)), readDownload(t, download))
	_, err = Collect(c.PlaceholderReassignments.List(ctx, team))
	require.ErrorIs(t, err, ErrInvalidResponse)
	require.ErrorContains(t, err, "an HTML page instead of the file")
	_, err = Collect(c.PlaceholderReassignments.List(ctx, team, OnePage()))
	assertRefused(t, err, "OnePage", "")
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
		"a column without a name": strings.Replace(strings.SplitAfter(gitlab, "\n")[0], "\n", ",Note,\n", 1) + "h,i,1,n,u,,,x,y\n",
		"header only":             strings.SplitAfter(gitlab, "\n")[0],
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

// TestReassignmentVocabulary checks the words of rows that a program creates. Both are read.
func TestReassignmentVocabulary(t *testing.T) {
	row := &PlaceholderReassignment{SourceHost: "h", Username: "ada", Extra: map[string]string{"B": "2", "A": "1"}}
	for vocabulary, words := range map[Vocabulary]string{
		Neutral: "Platform username,Platform public email",
		GitLab:  "GitLab username,GitLab public email",
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
	require.ErrorContains(t, err, `no column "GitLab username"`)
}

func TestBadReassignmentFiles(t *testing.T) {
	s := serve(t).PlaceholderReassignments
	header := strings.SplitAfter(string(readFixture(t, "placeholder_reassignments/reassignments.csv")), "\n")[0]
	long, cut := strings.Repeat("x", 300), `"`+strings.Repeat("x", 256)+`..."`
	for file, text := range map[string]string{
		"":                "empty",
		"\ufeff":          "empty",
		"a;b\n":           "separated by commas",
		"a,b\n":           `its first line is "a,b"`,
		"\xff\xfeS\x00":   "UTF-16",
		"\xfe\xff\x00S":   "UTF-16",
		long:              cut,
		long + "," + long: "two columns " + cut,
		strings.TrimSuffix(header, "\n") + ",Source host\n":     `two columns "Source host"`,
		strings.TrimSuffix(header, "\n") + ",GitLab username\n": `two columns "GitLab username"`,
		strings.TrimSuffix(header, "\n") + ",Note,Note\n":       `two columns "Note"`,
		header + "a,b\n":             "line 2",
		header + "\"a,b,c,d,e,f,g\n": "line",
		header + "a\"b,c,d,e,f,g\n":  "reassignments: parse error on line 2, column 2: ",
		header + "\"" + strings.Repeat("a,\n", maxReassignment) + "\"": "longer than 1 MiB",
		"\"" + strings.Repeat("a", 2*maxReassignment):                  "longer than 1 MiB",
	} {
		rows, err := Collect(s.ReadCSV(strings.NewReader(file)))
		require.ErrorContains(t, err, text, file[:min(len(file), 200)])
		assert.Empty(t, rows)
		assert.Less(t, len(err.Error()), 1000)
		assert.Regexp(t, "^forge: (reading )?the file of reassignments", err.Error())
	}
	broken := errors.New("broken")
	long = header + strings.Repeat("h,i,1,n,u,,\n", 100_000) // more than the limit of one row
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
	for _, err := range []error{s.WriteCSV(nil, byHand()), s.WriteCSV(&out, nil)} {
		require.EqualError(t, err, "forge: writing the file of reassignments: the writer or the list of rows is nil")
	}
	require.ErrorIs(t, s.WriteCSV(&out, s.ReadCSV(iotest.ErrReader(broken))), broken)
	require.ErrorContains(t, s.WriteCSV(&out, changed(s.ReadCSV(strings.NewReader(header+"h,i,1,n,u,,\n")), func(row *PlaceholderReassignment) {
		row.Extra = map[string]string{"Note": "n"}
	})), `no column "Note"`, "a value is not lost")
	require.ErrorContains(t, s.WriteCSV(&out, byHand(&PlaceholderReassignment{Extra: map[string]string{"Source host": "h"}})), "Source host")
	require.EqualError(t, s.WriteCSV(&out, byHand(new(PlaceholderReassignment), nil)), "forge: writing the file of reassignments: a row is nil")
	require.ErrorContains(t, s.WriteCSV(&out, changed(s.ReadCSV(strings.NewReader(header[:len(header)-1]+",Known\nh,i,1,n,u,,,k\n")), func(row *PlaceholderReassignment) {
		row.Extra["Unknown"] = "n"
	})), `no column "Unknown"`)
	require.ErrorIs(t, s.WriteCSV(failingWriter{broken}, s.ReadCSV(strings.NewReader(long))), broken)
	require.ErrorIs(t, s.WriteCSV(failingWriter{broken}, byHand()), broken)
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }
