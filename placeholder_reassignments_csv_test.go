package forge

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const reassignmentHead = "Source host,Import type,Source user identifier,Source user name,Source username,Platform username,Platform public email\n"

func reassignmentFile(rows int) string {
	var b strings.Builder
	b.WriteString(reassignmentHead)
	for i := range rows {
		fmt.Fprintf(&b, "h,github,%d,\"Name, %d\",user%d,new%d,user%d@example.com\n", i, i, i, i, i)
	}
	return b.String()
}

// A file that is truncated at any byte by the connection is an error, and each row equals the row
// in the file. If the response has no length and ends with the connection, a truncation after a
// complete line is not detected.
func TestReassignmentsTruncated(t *testing.T) {
	file := reassignmentFile(3)
	const csvType = "Content-Type: text/csv"
	framings := []struct {
		name string
		tell func(cut int) act
	}{
		{"length", func(cut int) act {
			return closing(fmt.Sprintf("HTTP/1.1 200 OK\r\n%s\r\nContent-Length: %d\r\n\r\n%s", csvType, len(file), file[:cut]))
		}},
		{"chunked", func(cut int) act {
			if cut == 0 {
				return closing("HTTP/1.1 200 OK\r\n" + csvType + "\r\nTransfer-Encoding: chunked\r\n\r\n")
			}
			return closing(fmt.Sprintf("HTTP/1.1 200 OK\r\n%s\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", csvType, cut, file[:cut]))
		}},
		{"none", func(cut int) act {
			return closing("HTTP/1.1 200 OK\r\n" + csvType + "\r\nConnection: close\r\n\r\n" + file[:cut])
		}},
	}
	for _, framing := range framings {
		t.Run(framing.name, func(t *testing.T) {
			cut := 0
			client := wireClient(t, newWire(t, func(seen) act { return framing.tell(cut) }).url)
			for cut = range file {
				rows, err := Collect(client.PlaceholderReassignments.List(t.Context(), ID(1), Retry(RetryPolicy{MaxAttempts: 1})))
				for i, row := range rows {
					require.Equal(t, fmt.Sprintf("user%d@example.com", i), row.PublicEmail, "cut at %d", cut)
				}
				require.Len(t, rows, max(0, strings.Count(file[:cut], "\n")-1), "cut at %d", cut)
				if framing.name == "none" && cut >= len(reassignmentHead) && strings.HasSuffix(file[:cut], "\n") {
					require.NoError(t, err)
					continue
				}
				if framing.name == "none" && cut > 0 {
					require.ErrorIs(t, err, io.ErrUnexpectedEOF, "cut at %d", cut)
				}
				require.Error(t, err, "cut at %d of %d: %q", cut, len(file), file[max(0, cut-20):cut])
			}
		})
	}
}

// A file of the caller may end without a line break, as some spreadsheets write it.
func TestReassignmentsLastLine(t *testing.T) {
	client := bubbleClient(t)
	rows, err := Collect(client.PlaceholderReassignments.ReadCSV(strings.NewReader(strings.TrimSuffix(reassignmentFile(2), "\n"))))
	require.NoError(t, err)
	assert.Len(t, rows, 2)
	_, err = Collect(client.PlaceholderReassignments.ReadCSV(strings.NewReader(reassignmentFile(2) + "a\"b")))
	require.ErrorIs(t, err, csv.ErrBareQuote)
	assert.NotContains(t, err.Error(), "the header has")
	// A download may, too, since its length shows that it is complete.
	text := strings.TrimSuffix(reassignmentFile(2), "\n")
	w := newWire(t, always(say(200, text, "Content-Type: text/csv")))
	rows, err = Collect(wireClient(t, w.url).PlaceholderReassignments.List(t.Context(), ID(1)))
	require.NoError(t, err)
	assert.Len(t, rows, 2)
	// Without a length it may be truncated, also if it begins with a byte order mark.
	for _, body := range []string{
		"\r\n" + text, "\r\n\ufeff" + text, fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(text), text),
	} {
		w = newWire(t, always(closing("HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\n"+body)))
		rows, err = Collect(wireClient(t, w.url).PlaceholderReassignments.List(t.Context(), ID(1)))
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		assert.Len(t, rows, 1)
	}
	// A file of length 0 is complete, and empty.
	w = newWire(t, always(say(200, "", "Content-Type: text/csv")))
	_, err = Collect(wireClient(t, w.url).PlaceholderReassignments.List(t.Context(), ID(1)))
	require.ErrorContains(t, err, "is empty")
	require.ErrorIs(t, err, ErrInvalidResponse)
}

// An error of the reader is reported at every position, even if the reader returns it only once, or
// if it wraps io.EOF.
func TestReassignmentsReaderFails(t *testing.T) {
	file, client := reassignmentFile(3), bubbleClient(t)
	for cut := range 2 * len(file) {
		broken := errors.New("the disk failed")
		if cut >= len(file) {
			cut, broken = cut-len(file), fmt.Errorf("the connection is lost: %w", io.EOF)
		}
		once := io.MultiReader(strings.NewReader(file[:cut]), &failOnce{err: broken})
		rows, err := Collect(client.PlaceholderReassignments.ReadCSV(once))
		require.ErrorIs(t, err, broken, "cut at %d", cut)
		require.EqualError(t, err, "forge: reading the file of reassignments: "+broken.Error(), "cut at %d", cut)
		require.LessOrEqual(t, len(rows), 3)
		_, err = Collect(client.PlaceholderReassignments.ReadCSV(iotest.DataErrReader(io.MultiReader(strings.NewReader(file[:cut]), iotest.ErrReader(broken)))))
		require.ErrorIs(t, err, broken, "cut at %d", cut)
	}
}

// failOnce fails once and then returns io.EOF.
type failOnce struct{ err error }

func (f *failOnce) Read([]byte) (int, error) {
	err := f.err
	f.err = io.EOF
	return 0, err
}

// FuzzReassignments checks that a file of any bytes is refused, or that its rows are the same after
// they are written and read again.
func FuzzReassignments(f *testing.F) {
	const columns = "Source host,Import type,Source user identifier,Source user name,Source username,Platform username,Platform public email"
	for _, s := range []string{
		columns + "\nhost,github,1,\"A, \"\"B\"\"\",b,me,\n", "\ufeff" + columns + ",Extra\r\na,b,c,d,e,f,g,h\r\n", columns + "\na,b\n", columns + "\n\"", columns, "", "\n", "x,y\n1,2\n",
		columns + ",Source host\n", strings.ReplaceAll(columns, "Platform", "GitLab") + "\n=1+1,\t,\r,\"\n\",\x00,\xff,ü\n", columns + "\n\n\n\"\",,,,,,\n", columns + ",\n1,2,3,4,5,6,7,8\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		service := fuzzClient(t, nothing).PlaceholderReassignments
		rows, err := Collect(service.ReadCSV(bytes.NewReader(file)))
		if err != nil {
			require.NotEmpty(t, err.Error())
			require.True(t, strings.HasPrefix(err.Error(), "forge: "), err.Error())
			return
		}
		var written bytes.Buffer
		require.NoError(t, service.WriteCSV(&written, sequence(rows)))
		if len(rows) == 0 {
			return
		}
		again, err := Collect(service.ReadCSV(bytes.NewReader(written.Bytes())))
		require.NoError(t, err, "%q", written.String())
		require.Len(t, again, len(rows))
		for i := range rows {
			require.Equal(t, rows[i], again[i])
		}
		var twice bytes.Buffer
		require.NoError(t, service.WriteCSV(&twice, sequence(again)))
		require.Equal(t, written.String(), twice.String())
	})
}

func sequence(rows []*PlaceholderReassignment) iter.Seq2[*PlaceholderReassignment, error] {
	return func(yield func(*PlaceholderReassignment, error) bool) {
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
	}
}

// A list whose context ends in the middle of the file is an error.
func TestReassignmentsInterrupted(t *testing.T) {
	file := reassignmentFile(4)
	line := strings.Index(file[len(reassignmentHead):], "\n") + len(reassignmentHead) + 1
	for _, cut := range []int{0, 5, len(reassignmentHead), line - 3, line} {
		for _, length := range []string{fmt.Sprintf("Content-Length: %d\r\n", len(file)), "Connection: close\r\n"} {
			ctx, cancel := context.WithCancel(t.Context())
			w := newWire(t, always(silent("HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\n"+length+"\r\n"+file[:cut])))
			client := wireClient(t, w.url, WithLogger(nil), WithOnAttempt(func(context.Context, Attempt) { cancel() }))
			_, err := Collect(client.PlaceholderReassignments.List(ctx, ID(1)))
			cancel()
			require.ErrorIs(t, err, context.Canceled, "cut at %d", cut)
		}
	}
}
