package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/forge-sdk/forge-go/examples/internal/demo"
)

// line is one line of the JSON report.
type line struct {
	Kind     string `json:"kind"` // drift, not_readable or not_called
	Route    string `json:"route"`
	Field    string `json:"field,omitempty"`
	Expected string `json:"expected,omitempty"` // empty for a field that the library does not know
	Found    string `json:"found,omitempty"`
	Count    int    `json:"count,omitempty"`
	Status   int    `json:"status,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

// report prints what was found. Its error sets the exit code of the program.
func (w *walk) report(out io.Writer, asJSON bool) error {
	slices.SortStableFunc(w.unread, func(a, b unread) int { return cmp.Compare(a.route, b.route) })
	write := w.table
	if asJSON {
		write = w.lines
	}
	if err := write(out); err != nil {
		return err
	}
	failed := 0
	for _, u := range w.unread {
		if u.failed {
			failed++
		}
	}
	found, incomplete := len(w.drift.Entries())+w.drift.Dropped(), ""
	if failed > 0 {
		incomplete = "; the report is incomplete: " + demo.Count(failed, "endpoint") + " failed"
	}
	switch {
	case w.read == 0 && found == 0:
		return errors.New("no endpoint could be read: the reasons are above")
	case found > 0:
		return demo.Finding(demo.Count(found, "field") + " that this version does not know or reads otherwise" + incomplete)
	case failed > 0:
		return fmt.Errorf("no drift in what was read%s", incomplete)
	}
	return nil
}

// table prints the report as a table.
func (w *walk) table(out io.Writer) error {
	entries := w.drift.Entries()
	if len(entries) > 0 {
		table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "ROUTE\tFIELD\tEXPECTED\tFOUND\tCOUNT")
		for _, e := range entries {
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%d\n", e.Route, cmp.Or(e.Pointer, "(all of it)"), cmp.Or(e.Want, "(no such field)"), e.Got, e.Count)
		}
		if err := table.Flush(); err != nil {
			return err
		}
		if more := w.drift.Dropped(); more > 0 {
			fmt.Fprintf(out, "Not recorded: %d more.\n", more)
		}
		fmt.Fprintln(out)
	}
	w.section(out, "Not readable", func(u unread) bool { return u.called() })
	w.section(out, "Not called", func(u unread) bool { return !u.called() })
	verdict := "No drift"
	switch {
	case len(entries) > 0:
		verdict = "Drift"
	case w.read == 0:
		verdict = "Nothing to compare"
	}
	_, err := fmt.Fprintf(out, "%s: %d of %d read endpoints were read.\n", verdict, w.read, w.read+len(w.unread))
	return err
}

// section prints a title and the endpoints for which belongs returns true.
func (w *walk) section(out io.Writer, title string, belongs func(unread) bool) {
	list := slices.DeleteFunc(slices.Clone(w.unread), func(u unread) bool { return !belongs(u) })
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(out, "%s:\n", title)
	for _, u := range list {
		fmt.Fprintf(out, "  %s: %s\n", u.route, u)
	}
	fmt.Fprintln(out)
}

// lines prints the report as JSON, one object on each line.
func (w *walk) lines(out io.Writer) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for _, e := range w.drift.Entries() {
		if err := encoder.Encode(line{Kind: "drift", Route: e.Route, Field: e.Pointer, Expected: e.Want, Found: e.Got, Count: e.Count}); err != nil {
			return err
		}
	}
	for _, u := range w.unread {
		l := line{Kind: "not_called", Route: u.route, Status: u.status, Reason: u.reason}
		if u.called() {
			l.Kind = "not_readable"
		}
		if err := encoder.Encode(l); err != nil {
			return err
		}
	}
	return nil
}

// called reports whether a request was sent.
func (u unread) called() bool { return u.status != 0 || u.failed }

// String returns the status and the reason why the endpoint was not read.
func (u unread) String() string {
	var parts []string
	if u.status != 0 {
		parts = append(parts, strings.TrimSpace(strconv.Itoa(u.status)+" "+http.StatusText(u.status)))
	}
	if u.reason != "" {
		parts = append(parts, u.reason)
	}
	return strings.Join(parts, ", ")
}
