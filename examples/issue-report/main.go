// Issue-report shows, for each label, the open issues, the estimate and the time spent, as a table
// in the terminal, and with -out as an HTML page with charts. Use it for weekly reports: the page
// is one file without scripts or links to other hosts, so it can be mailed, or archived with a CI
// job.
//
//	go run .
//	go run . -out issue-report.html [-group acme] [-since 2026-01-01]
//
// By default it starts the embedded server with the demo data. With FORGE_URL and FORGE_TOKEN it
// uses a real server, and changes nothing there. gonum/plot draws the charts as SVG, which needs no
// script.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"iter"
	"slices"
	"text/tabwriter"
	"time"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/examples/internal/demo"
)

func main() { demo.Main(run) }

// run is the whole program; a test runs it too.
func run(ctx context.Context, args []string, _ io.Reader, out io.Writer) error {
	flags := flag.NewFlagSet("issue-report", flag.ContinueOnError)
	group := flags.String("group", "", "`path` of the group to report on; all issues that the user can see unless set")
	since := flags.String("since", "", "leave out issues last changed before this `date`, as in 2026-01-31")
	path := flags.String("out", "", "`file` to write the page to; no page unless set")
	if err := demo.Parse(flags, args, out); err != nil {
		return err
	}
	options := &forge.ListIssuesOptions{Scope: forge.ScopeAll}
	if *since != "" {
		date, err := forge.ParseDate(*since)
		if err != nil {
			return err
		}
		options.UpdatedAfter = date.In(time.Local)
	}
	server, err := demo.Connect(out, flags.Name())
	if err != nil {
		return err
	}
	defer server.Close()
	client := server.Client
	issues := client.Issues.List(ctx, options, forge.Ahead(4))
	if *group != "" {
		issues = client.Issues.ListForGroup(ctx, forge.Path(*group), options, forge.Ahead(4))
	}
	r, err := collect(issues)
	if err != nil {
		return err
	}
	if err := r.writeTable(out); err != nil {
		return err
	}
	if *path == "" {
		return nil
	}
	r.Title, r.Source, r.Made = cmp.Or(*group, "All issues"), client.BaseURL(), time.Now()
	if err := demo.SaveFile(*path, false, r.write); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nPage    %s\n", *path)
	return nil
}

// report is the content of the table and of the page.
type report struct {
	Title, Source string
	Made          time.Time
	Total         row   // each issue once
	Labels        []row // an issue with two labels counts in both; most open issues first
}

// row sums up the issues of a label. The times are working time, in seconds.
type row struct {
	Name            string
	Open, Closed    int
	Estimate, Spent int64
}

func (r *row) add(issue *forge.Issue) {
	if issue.State == forge.IssueStateOpened {
		r.Open++
	} else {
		r.Closed++
	}
	r.Estimate += issue.TimeStats.TimeEstimate
	r.Spent += issue.TimeStats.TotalTimeSpent
}

// collect sums up all issues. It keeps one row for each label and no issues, so their number does
// not matter.
func collect(issues iter.Seq2[*forge.Issue, error]) (*report, error) {
	r, rows := &report{Total: row{Name: "all issues"}}, map[string]*row{}
	for issue, err := range issues {
		if err != nil {
			return nil, err
		}
		r.Total.add(issue)
		if len(issue.Labels) == 0 {
			issue.Labels = []forge.Label{{Name: "(no label)"}}
		}
		for _, label := range issue.Labels {
			if rows[label.Name] == nil {
				rows[label.Name] = &row{Name: label.Name}
			}
			rows[label.Name].add(issue)
		}
	}
	for _, row := range rows {
		r.Labels = append(r.Labels, *row)
	}
	slices.SortFunc(r.Labels, func(a, b row) int {
		return cmp.Or(cmp.Compare(b.Open, a.Open), cmp.Compare(b.Spent, a.Spent), cmp.Compare(a.Name, b.Name))
	})
	return r, nil
}

// writeTable writes the report for a terminal.
func (r *report) writeTable(out io.Writer) error {
	if r.Total == (row{Name: r.Total.Name}) {
		fmt.Fprintln(out, "There is no issue that this user can see.")
		return nil
	}
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "open\tclosed\testimate\tspent\t  label")
	for _, row := range append(slices.Clone(r.Labels), r.Total) {
		fmt.Fprintf(w, "%d\t%d\t%s\t%s\t  %s\n", row.Open, row.Closed, hours(row.Estimate), hours(row.Spent), row.Name)
	}
	return w.Flush()
}

// hours formats working time. Days would mean 8 hours on one server and 24 on another.
func hours(seconds int64) string { return fmt.Sprintf("%.0f h", float64(seconds)/3600) }
