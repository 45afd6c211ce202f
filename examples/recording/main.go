// Recording runs a program against recorded responses of a server, with dnaeon/go-vcr, which keeps
// the exchanges in a YAML file that can be read and reviewed. Use it for tests that depend on the
// behaviour of one server: its version, its proxy, its data.
//
//	go run .           # replays testdata/triage.yaml; no network
//	go run . -record   # records again, from the embedded server or that of FORGE_URL and FORGE_TOKEN
//
// Prefer forgetest if both would do. It responds to any request, keeps what is written, fails on
// demand and is never out of date. A recording has only the requests of the day it was made, and
// breaks if the program sends them in another order. Record what forgetest cannot know, and read
// the file before you check it in: scrub.go removes the credential, the address and the secrets
// that it knows by name, but only you know of others. With -record the program subscribes the user
// to an issue, and unsubscribes again.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"time"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/examples/internal/demo"
)

func main() { demo.Main(run) }

// run is the whole program; a test runs it too.
func run(ctx context.Context, args []string, _ io.Reader, out io.Writer) (err error) {
	flags := flag.NewFlagSet("recording", flag.ContinueOnError)
	record := flags.Bool("record", false, "record the server's answers anew")
	cassette := flags.String("cassette", "testdata/triage", "the recording, a `file` without .yaml")
	if err := demo.Parse(flags, args, out); err != nil {
		return err
	}
	open := replay
	if *record {
		server, err := demo.Connect(out, flags.Name())
		if err != nil {
			return err
		}
		defer server.Close()
		open = func(cassette string) (*forge.Client, func() error, error) { return recordFrom(server.Client, cassette) }
	}
	client, stop, err := open(*cassette)
	if err != nil {
		return err
	}
	if err := triage(ctx, client, out); err != nil {
		return err // keep the existing recording: this one would replay a shorter run
	}
	return stop()
}

// recordFrom returns a client of a server whose responses are recorded. stop writes the cassette.
func recordFrom(server *forge.Client, cassette string) (client *forge.Client, stop func() error, err error) {
	recorder, err := newRecorder(cassette, server, http.DefaultTransport)
	if err != nil {
		return nil, nil, err
	}
	client, err = server.With(forge.WithHTTPClient(&http.Client{Transport: recorder}))
	return client, recorder.Stop, err
}

// replay returns a client that gets its responses from a cassette. It also gets the recorded
// failures, but without the waits.
func replay(cassette string) (client *forge.Client, stop func() error, err error) {
	client, err = forge.NewClient(exampleURL, forge.WithToken("not-a-token"),
		forge.WithRetry(forge.RetryPolicy{MinWait: time.Millisecond, MaxWait: time.Millisecond}))
	if err != nil {
		return nil, nil, err
	}
	recorder, err := newRecorder(cassette, client, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("%w; -cassette names another recording, and -record makes one", err)
	}
	client, err = client.With(forge.WithHTTPClient(&http.Client{Transport: recorder}))
	return client, recorder.Stop, err
}

// triage is the code under test: it shows the open bugs without an assignee, and subscribes to the
// oldest.
func triage(ctx context.Context, client *forge.Client, out io.Writer) error {
	user, err := client.Users.GetCurrent(ctx, nil)
	if err != nil {
		return err
	}
	bugs, err := forge.Collect(client.Issues.List(ctx, &forge.ListIssuesOptions{
		Scope: forge.ScopeAll, State: forge.IssueStateOpened, Labels: forge.Labels("bug"), AssigneeID: forge.None, Sort: forge.SortAsc,
	}, forge.PerPage(5)))
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s has %s to give away\n", user.Name, demo.Count(len(bugs), "bug"))
	for _, bug := range bugs {
		fmt.Fprintf(out, "  %-28s %s\n", bug.References.Full, bug.Title)
	}
	if len(bugs) == 0 {
		return nil
	}
	oldest := bugs[0]
	type toggle func(context.Context, forge.Ref, int64, ...forge.RequestOption) (*forge.Issue, error)
	for _, change := range []toggle{client.Issues.Subscribe, client.Issues.Unsubscribe} {
		issue, err := change(ctx, forge.ID(oldest.ProjectID), oldest.IID)
		switch {
		case errors.Is(err, forge.ErrNotModified):
			fmt.Fprintf(out, "%s: nothing to change\n", oldest.References.Full)
		case err != nil:
			return err
		default:
			fmt.Fprintf(out, "%s: subscribed is now %t\n", oldest.References.Full, issue.Subscribed != nil && *issue.Subscribed)
		}
	}
	return nil
}
