// Reassign-users assigns the contributions that an import has left with placeholder users to the
// accounts of the people. It writes the pending ones to a CSV file and suggests accounts, you
// review and edit the file, and it sends the file back. It is for the owner of a group that was
// imported from another platform.
//
//	go run ./examples/reassign-users
//	go run ./examples/reassign-users -group acme -file people.csv
//	go run ./examples/reassign-users -group acme -out people.csv
//	go run ./examples/reassign-users -group acme -in people.csv
//
// -out writes the file, -in sends it, and -file does both: it waits for your confirmation in
// between. The program suggests the account that has the person's username, or the only account
// with the person's display name. That does not prove that it is the same person: review each row.
// The exit code is 1 if no row names an account, or if the server has not reassigned all in time.
//
// By default it starts the embedded server with the demo data, and keeps no file. With FORGE_URL
// and FORGE_TOKEN it uses a real server, where the token needs the role Owner in the group.
package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/examples/internal/demo"
)

func main() { demo.Main(run) }

// reassignment is one run of the program.
type reassignment struct {
	client *forge.Client
	out    io.Writer
	group  forge.Ref
	wait   time.Duration
}

// run is the whole program; a test runs it too.
func run(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	r := &reassignment{out: out}
	flags := flag.NewFlagSet("reassign-users", flag.ContinueOnError)
	group := flags.String("group", "", "the group that was imported, by full path or id")
	write := flags.String("out", "", "write the pending reassignments to this file, and end")
	read := flags.String("in", "", "send this file")
	both := flags.String("file", "", "write the pending reassignments to this file, and send it after your confirmation")
	yes := flags.Bool("yes", false, "do not ask")
	flags.DurationVar(&r.wait, "wait", time.Minute, "how long to wait for the server, which reassigns in the background")
	if err := demo.Parse(flags, args, out); err != nil {
		return err
	}
	server, err := demo.Connect(out, "reassign-users")
	if err != nil {
		return err
	}
	defer server.Close()
	if server.Embedded != nil {
		*group = cmp.Or(*group, "acme")
	}
	if *group == "" {
		return errors.New("-group is missing: which one was imported?")
	}
	r.client, r.group = server.Client, demo.Ref(*group)
	path, remove, err := server.Path(out, "-file", cmp.Or(*read, *write, *both), "reassignments.csv")
	if err != nil {
		return err
	}
	defer remove()
	if *read == "" {
		if pending, err := r.export(ctx, path); err != nil || pending == 0 || *write != "" {
			return err
		}
	}
	if sure, err := demo.Confirm(ctx, in, out, *yes, "Look at "+path+", edit it if need be. Send it?"); !sure {
		return err
	}
	return r.send(ctx, path)
}

// export writes the file, with suggestions, and returns the number of pending reassignments.
func (r *reassignment) export(ctx context.Context, path string) (pending int, err error) {
	var file bytes.Buffer
	table := tabwriter.NewWriter(r.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "FROM\tNAME THERE\tACCOUNT\tBECAUSE")
	err = r.client.PlaceholderReassignments.WriteCSV(&file, func(yield func(*forge.PlaceholderReassignment, error) bool) {
		for row, err := range r.client.PlaceholderReassignments.List(ctx, r.group) {
			why := "named in the file"
			if err == nil && row.Username == "" && row.PublicEmail == "" {
				row.Username, why, err = r.suggest(ctx, row)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			pending++
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", row.SourceUsername, row.SourceUserName, cmp.Or(row.Username, "-"), why)
			if !yield(row, nil) {
				return
			}
		}
	})
	switch {
	case err != nil:
		return 0, err
	case pending == 0:
		fmt.Fprintln(r.out, "There is nothing to reassign.")
		return 0, nil
	}
	_ = table.Flush()
	fmt.Fprintf(r.out, "\n%s pending; the file is %s.\n", demo.Count(pending, "reassignment"), path)
	return pending, demo.SaveBytes(path, true, file.Bytes()) // it names people
}

// suggest returns the account that a person of the other platform may have here, and the reason.
func (r *reassignment) suggest(ctx context.Context, row *forge.PlaceholderReassignment) (username, why string, err error) {
	same, err := forge.Collect(r.client.Users.List(ctx, &forge.ListUsersOptions{Username: row.SourceUsername, Active: true, Humans: new(true)}))
	if err != nil {
		return "", "", err
	}
	if len(same) == 1 {
		return same[0].Username, "same username", nil
	}
	found, err := forge.Collect(r.client.Users.List(ctx, &forge.ListUsersOptions{Search: row.SourceUserName, Active: true, Humans: new(true)}))
	if err != nil {
		return "", "", err
	}
	for _, user := range found {
		if strings.EqualFold(user.Name, row.SourceUserName) {
			if username != "" {
				return "", "several accounts have the name", nil
			}
			username, why = user.Username, "same name"
		}
	}
	return username, cmp.Or(why, "nobody found"), nil
}

// send checks the file, sends it, and waits until its rows are no longer pending.
func (r *reassignment) send(ctx context.Context, path string) error {
	named, err := r.check(ctx, path)
	if err != nil {
		return err
	}
	message, err := r.client.PlaceholderReassignments.Upload(ctx, r.group, forge.FileAt(path))
	if err != nil {
		return err
	}
	fmt.Fprintf(r.out, "\nSent. The server says: %s\n", message.Message)
	left, pending := 0, 0
	err = demo.Wait(ctx, r.wait, func() (bool, error) {
		left, pending = 0, 0
		for row, err := range r.client.PlaceholderReassignments.List(ctx, r.group) {
			if err != nil {
				return false, err
			}
			pending++
			if named[row.SourceUserIdentifier] {
				left++
			}
		}
		return left == 0, nil
	})
	if err != nil {
		return err
	}
	if left > 0 {
		return demo.Finding(fmt.Sprintf("%d of %d not reassigned after %s: the people may have to accept first", left, len(named), r.wait))
	}
	fmt.Fprintf(r.out, "Reassigned %d; %d still pending.\n", len(named), pending)
	return nil
}

// check reads the file. It returns an error if the file names an account that does not exist: the
// server would skip the row, and report it by mail only.
func (r *reassignment) check(ctx context.Context, path string) (named map[string]bool, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	named = map[string]bool{}
	var unknown []string
	for row, err := range r.client.PlaceholderReassignments.ReadCSV(file) {
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if row.Username == "" && row.PublicEmail == "" {
			continue
		}
		named[row.SourceUserIdentifier] = true
		if row.Username == "" {
			continue
		}
		users, err := forge.Collect(r.client.Users.List(ctx, &forge.ListUsersOptions{Username: row.Username}))
		if err != nil {
			return nil, err
		}
		if len(users) == 0 {
			unknown = append(unknown, row.Username)
		}
	}
	switch {
	case len(unknown) > 0:
		return nil, fmt.Errorf("%s names accounts that are not there: %s; nothing was sent", path, strings.Join(unknown, ", "))
	case len(named) == 0:
		return nil, demo.Finding(path + " names nobody: fill in the username or the e-mail address of a row; nothing was sent")
	}
	return named, nil
}
