// Fleet reads the time tracking of all issues with many workers that share one rate limit, wherever
// they run. Use it for jobs on several machines that share a token: a server limits users, not
// processes, so a separate limit for each process is too low, or too high as soon as a machine is
// added.
//
//	go run . [-workers 4] [-rate 50]
//	REDIS_URL=redis://redis.example.com:6379/0 go run . -part 2/5   # on the second of five machines
//
// By default it starts the embedded server with the demo data. With FORGE_URL and FORGE_TOKEN it
// uses a real server, and changes nothing there. Without REDIS_URL it starts a Redis server in the
// process (alicebob/miniredis), which is enough for a demonstration. The limit itself is
// go-redis/redis_rate: one atomic script for each request, by the clock of Redis. Choose a rate
// below the server's: clients without the limit count too.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/examples/internal/demo"
)

func main() { demo.Main(run) }

// run is the whole program; a test runs it too.
func run(ctx context.Context, args []string, _ io.Reader, out io.Writer) error {
	flags := flag.NewFlagSet("fleet", flag.ContinueOnError)
	workers := flags.Int("workers", 4, "the `number` of workers that this process has")
	rate := flags.Int("rate", 50, "`requests` a second of all workers on all machines together")
	part := flags.String("part", "1/1", "which `share` of the issues this process reads: 2/5 is the second of five")
	if err := demo.Parse(flags, args, out); err != nil {
		return err
	}
	f := fleet{workers: *workers}
	if _, err := fmt.Sscanf(*part, "%d/%d", &f.part, &f.parts); err != nil || f.part < 1 || f.part > f.parts || f.workers < 1 || *rate < 1 {
		return errors.New("workers and rate are 1 at least, and part is like 2/5 (-help lists the flags)")
	}
	server, err := demo.Connect(out, flags.Name())
	if err != nil {
		return err
	}
	defer server.Close()
	store, stop, err := connectRedis(os.Getenv("REDIS_URL"))
	if err != nil {
		return err
	}
	defer stop()
	user, err := server.Client.Users.GetCurrent(ctx, nil)
	if err != nil {
		return err
	}
	// The server counts requests by user, so the tokens of one user share the limit, and no others.
	f.limit = newLimit(store, fmt.Sprintf("%s user %d", server.Client.BaseURL(), user.ID), *rate)
	if f.client, err = server.Client.With(forge.WithLimiter(f.limit)); err != nil {
		return err
	}
	return f.run(ctx, out)
}

// connectRedis connects to the Redis at an address. Without an address it starts one in the
// process.
func connectRedis(address string) (store *redis.Client, stop func(), err error) {
	if address == "" {
		own, err := miniredis.Run()
		if err != nil {
			return nil, nil, err
		}
		store = redis.NewClient(&redis.Options{Addr: own.Addr()})
		return store, func() { _ = store.Close(); own.Close() }, nil
	}
	options, err := redis.ParseURL(address)
	if err != nil {
		return nil, nil, errors.New("REDIS_URL is no address of Redis, such as redis://user:password@host:6379/0") // err would show the password
	}
	store = redis.NewClient(options)
	return store, func() { _ = store.Close() }, nil
}

// fleet is the workers of this process.
type fleet struct {
	client      *forge.Client
	limit       *limit
	workers     int
	part, parts int
}

// tally is what one worker has read.
type tally struct {
	issues int
	spent  time.Duration
	err    error
}

// run lists the issues once. The workers read the time tracking of this process's share of them.
func (f *fleet) run(ctx context.Context, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	started := time.Now()
	issues, tallies := make(chan *forge.Issue), make([]tally, f.workers)
	var wg sync.WaitGroup
	for i := range tallies {
		wg.Go(func() {
			if tallies[i].err = f.work(ctx, issues, &tallies[i]); tallies[i].err != nil {
				cancel() // the others stop too
			}
		})
	}
	err := f.list(ctx, issues)
	close(issues)
	wg.Wait()
	for _, t := range tallies {
		if t.err != nil && !errors.Is(t.err, context.Canceled) {
			err = t.err
		}
		err = cmp.Or(err, t.err)
	}
	if err != nil {
		return err
	}
	return f.report(out, tallies, time.Since(started))
}

// list sends this process's share of the issues to the workers.
func (f *fleet) list(ctx context.Context, issues chan<- *forge.Issue) error {
	for issue, err := range f.client.Issues.List(ctx, &forge.ListIssuesOptions{Scope: forge.ScopeAll}) {
		if err != nil {
			return err
		}
		if issue.ID%int64(f.parts) != int64(f.part-1) {
			continue
		}
		select {
		case issues <- issue:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// work runs one worker.
func (f *fleet) work(ctx context.Context, issues <-chan *forge.Issue, t *tally) error {
	for issue := range issues {
		stats, err := f.client.Issues.GetTimeStats(ctx, forge.ID(issue.ProjectID), issue.IID)
		if err != nil {
			return err
		}
		t.issues++
		t.spent += time.Duration(stats.TotalTimeSpent) * time.Second
	}
	return nil
}

// report prints what was read, and how often the limit delayed requests.
func (f *fleet) report(out io.Writer, tallies []tally, took time.Duration) error {
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "worker\tissues\tspent\t")
	var all tally
	for i, t := range tallies {
		fmt.Fprintf(w, "%d\t%d\t%.1f h\t\n", i+1, t.issues, t.spent.Hours())
		all.issues, all.spent = all.issues+t.issues, all.spent+t.spent
	}
	fmt.Fprintf(w, "all\t%d\t%.1f h\t\n", all.issues, all.spent.Hours())
	if err := w.Flush(); err != nil {
		return err
	}
	stats := f.client.Stats()
	fmt.Fprintf(out, "\n%s in %s, delayed %s by the limit; refused by the server: %d\n",
		demo.Count(int(stats.Attempts), "request"), took.Round(time.Millisecond), demo.Count(int(f.limit.waits.Load()), "time"), stats.RateLimitWaits)
	return nil
}
