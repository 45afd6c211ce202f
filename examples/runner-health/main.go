// Runner-health shows which CI runners are in contact, which versions their machines have, and
// which jobs hang. Use it to find out why a pipeline waits, or as a monitoring job: with -check it
// fails if something needs attention.
//
//	go run ./examples/runner-health
//	go run ./examples/runner-health -project group/app -stuck 2h -check
//	go run ./examples/runner-health -all -oldest 17.0
//
// By default it starts the embedded server with the demo data. With FORGE_URL and FORGE_TOKEN it
// uses a real server: the runners that the token's user may manage, those of a project (-project,
// role Maintainer), or all of the instance (-all, administrators). It changes nothing.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/examples/internal/demo"
)

func main() { demo.Main(run) }

// readers is the number of runners that are read concurrently.
const readers = 4

// run is the whole program; a test runs it too.
func run(ctx context.Context, args []string, _ io.Reader, out io.Writer) error {
	flags := flag.NewFlagSet("runner-health", flag.ContinueOnError)
	project := flags.String("project", "", "the runners that a project can use, by full path or id")
	all := flags.Bool("all", false, "all runners of the instance")
	stuck := flags.Duration("stuck", time.Hour, "how long a job may run")
	oldest := flags.String("oldest", "", "the oldest version that is fine, as in 17.0")
	check := flags.Bool("check", false, "exit with 1 when something needs a look")
	if err := demo.Parse(flags, args, out); err != nil {
		return err
	}
	server, err := demo.Connect(out, "runner-health")
	if err != nil {
		return err
	}
	defer server.Close()
	if server.Embedded != nil {
		*all, *oldest = *all || *project == "", cmp.Or(*oldest, "17.0")
	}
	var page forge.Response
	runners, err := forge.Collect(list(ctx, server.Client, *project, *all, forge.Into(&page)))
	if err != nil {
		return err
	}
	now := demo.ServerTime(&page)
	found, err := examine(ctx, server.Client, runners, func(h *health) { h.judge(now, *stuck, *oldest) })
	if err != nil {
		return err
	}
	return report(out, found, now, *check)
}

func list(ctx context.Context, client *forge.Client, project string, all bool, opts ...forge.RequestOption) iter.Seq2[*forge.Runner, error] {
	switch {
	case project != "":
		return client.Runners.ListForProject(ctx, demo.Ref(project), nil, opts...)
	case all:
		return client.Runners.ListAll(ctx, nil, opts...)
	}
	return client.Runners.List(ctx, nil, opts...)
}

// examine reads the details that the list does not have, of several runners concurrently. It omits
// runners that no longer exist. The first other error ends it.
func examine(ctx context.Context, client *forge.Client, runners []*forge.Runner, judge func(*health)) ([]*health, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	found := make([]*health, len(runners))
	turns := make(chan int)
	var work sync.WaitGroup
	for range min(readers, len(runners)) {
		work.Go(func() {
			for i := range turns {
				switch h, err := read(ctx, client, runners[i].ID); {
				case err == nil:
					judge(h)
					found[i] = h
				case !errors.Is(err, forge.ErrNotFound):
					cancel(fmt.Errorf("runner %d: %w", runners[i].ID, err))
				}
			}
		})
	}
	for i := range runners {
		turns <- i
	}
	close(turns)
	work.Wait()
	return slices.DeleteFunc(found, func(h *health) bool { return h == nil }), context.Cause(ctx)
}

func read(ctx context.Context, client *forge.Client, id int64) (h *health, err error) {
	h = &health{}
	if h.runner, err = client.Runners.Get(ctx, id, nil); err != nil {
		return nil, err
	}
	if h.managers, err = forge.Collect(client.Runners.ListManagers(ctx, id)); err != nil {
		return nil, err
	}
	h.running, err = forge.Collect(client.Runners.ListJobs(ctx, id, &forge.ListRunnerJobsOptions{Status: forge.JobStatusRunning}))
	return h, err
}

// report prints the table, the runners that need attention first, and the jobs that hang.
func report(out io.Writer, found []*health, now time.Time, check bool) error {
	slices.SortStableFunc(found, func(a, b *health) int {
		return cmp.Or(cmp.Compare(len(b.notes), len(a.notes)), cmp.Compare(a.runner.ID, b.runner.ID))
	})
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tRUNNER\tFOR\tSTATUS\tCONTACT\tVERSIONS\tJOBS\tNEEDS A LOOK")
	states, look := map[string]int{}, 0
	for _, h := range found {
		state := strings.ReplaceAll(string(h.runner.Status), "_", " ")
		if h.runner.Paused {
			state += ", paused"
		}
		states[state]++
		if len(h.notes) > 0 {
			look++
		}
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\t%s\t%d\t%s\n", h.runner.ID, h.runner.Description, strings.TrimSuffix(string(h.runner.RunnerType), "_type"),
			state, ago(now, h.runner.ContactedAt), h.versions(), len(h.running), strings.Join(h.notes, "; "))
	}
	if len(found) > 0 {
		_ = table.Flush()
		fmt.Fprintln(out)
	}
	var jobs strings.Builder
	for _, h := range found {
		for _, job := range h.stuck {
			fmt.Fprintf(&jobs, "Job %d %q (%s) has run for %s on %s.\n", job.ID, job.Name, job.Stage, ago(now, job.StartedAt), h.runner.Description)
		}
	}
	if jobs.Len() > 0 {
		fmt.Fprintln(out, &jobs)
	}
	fmt.Fprintf(out, "%s:", demo.Count(len(found), "runner"))
	for _, state := range slices.Sorted(maps.Keys(states)) {
		fmt.Fprintf(out, " %d %s;", states[state], state)
	}
	fmt.Fprintf(out, " %d to look at.\n", look)
	if check && look > 0 {
		return demo.Finding(demo.Count(look, "runner") + " to look at")
	}
	return nil
}
