// Recording runs a program against what a server once answered, with dnaeon/go-vcr, which keeps the exchanges in a YAML file that can
// be read and reviewed. It is for tests that hang on the ways of one certain server: its version, its proxy, its data.
//
//	go run .           # replays testdata/triage.yaml; no network
//	go run . -record   # records it anew, from the embedded server, or from that of FORGE_URL and FORGE_TOKEN
//
// Take forgetest where both would do. It answers what was never asked before, keeps what is written, fails on demand and is never out
// of date; a recording knows the requests of the day it was made, and breaks when the program asks in another order. Record what
// forgetest cannot know, and check the file in after reading it: recorder.go takes out the credential, the address and what is
// secret by its name, but only you know what else is. With -record the program subscribes the user to an issue, and back.
package main

import (
	"context"
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
		return err // and the recording that was there stays: this one would replay a shorter run
	}
	return stop()
}

// recordFrom makes a client that talks to a server and records what it answers. stop writes the cassette.
func recordFrom(server *forge.Client, cassette string) (client *forge.Client, stop func() error, err error) {
	recorder, err := newRecorder(cassette, server, http.DefaultTransport)
	if err != nil {
		return nil, nil, err
	}
	client, err = server.With(forge.WithHTTPClient(&http.Client{Transport: recorder}))
	return client, recorder.Stop, err
}

// replay makes a client that gets its answers from a cassette. A recorded failure is repeated as it was, without the waits.
func replay(cassette string) (client *forge.Client, stop func() error, err error) {
	recorder, err := newRecorder(cassette, nil, nil)
	if err != nil {
		return nil, nil, err
	}
	client, err = forge.NewClient(exampleURL, forge.WithToken("not-a-token"), forge.WithHTTPClient(&http.Client{Transport: recorder}),
		forge.WithRetry(forge.RetryPolicy{MinWait: time.Millisecond, MaxWait: time.Millisecond}))
	return client, recorder.Stop, err
}

// triage is the code under test: it shows the open bugs that nobody works on, and watches the oldest.
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
	fmt.Fprintf(out, "%s has %d bugs to give away\n", user.Name, len(bugs))
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
		case forge.Unchanged(err):
			fmt.Fprintf(out, "%s: nothing to change\n", oldest.References.Full)
		case err != nil:
			return err
		default:
			fmt.Fprintf(out, "%s: subscribed is now %t\n", oldest.References.Full, issue.Subscribed != nil && *issue.Subscribed)
		}
	}
	return nil
}
