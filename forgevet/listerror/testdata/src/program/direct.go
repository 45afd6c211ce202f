package program

import (
	"context"
	"io"
	"iter"

	forge "github.com/forge-sdk/forge-go"
)

type job struct{}

func direct(ctx context.Context, client *forge.Client, file io.Reader) {
	for issue := range client.Issues.List(ctx, nil) { // want "the error of the list is dropped: a failed list looks like a short one; write `for issue, err := range ...` and check err"
		use(issue)
	}
	for issue, _ := range client.Issues.List(ctx, nil) { // want "write `for issue, err := range"
		use(issue)
	}
	for _, _ = range client.Issues.List(ctx, nil) { // want "write `for _, err := range"
	}
	for range client.Issues.List(ctx, nil) { // want "write `for item, err := range"
	}
	var issue *forge.Issue
	for issue = range client.Issues.List(ctx, nil) { // want "write `for issue, err := range"
		use(issue)
	}
	for row := range client.PlaceholderReassignments.Read(file) { // want "write `for row, err := range"
		use(row)
	}
	for one := range forge.ListAs[job](ctx, client, forge.Call{}) { // want "write `for one, err := range"
		use(one)
	}
	for one := range generated(ctx) { // want "write `for one, err := range"
		use(one)
	}
	listAs := client.Issues.List
	for issue := range listAs(ctx, nil) { // want "the error of the list is dropped"
		use(issue)
	}
}

// generated is as a method that forgegen has written.
func generated(context.Context, ...forge.RequestOption) iter.Seq2[*job, error] { return nil }

func taken(ctx context.Context, client *forge.Client, file io.Reader) (last error) {
	for issue, err := range client.Issues.List(ctx, nil) {
		if err != nil {
			return err
		}
		use(issue)
	}
	for _, err := range client.PlaceholderReassignments.Read(file) {
		last = err
	}
	for _, last = range forge.ListAs[job](ctx, client, forge.Call{}) {
	}
	var errs [1]error
	for _, errs[0] = range client.Issues.List(ctx, nil) {
	}
	for _, err := range client.Issues.List(ctx, nil) {
		_ = err // on purpose
	}
	for number := range forge.Numbers() {
		use(number)
	}
	return last
}

func use(any) {}
