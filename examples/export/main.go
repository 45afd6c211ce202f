// Export writes every changed issue and merge request of many projects, and every audit event, to
// files of JSON lines that a warehouse can load. The work is shared by as many processes as you
// start, on one machine or on several: each takes shards (one kind of rows of one project) from the
// queue of River. A process that is killed loses nothing: others take over its shards.
//
//	go run .
//	go run . -dir out -every 1h -listen 127.0.0.1:8088
//	go run . merge -dir out > all.jsonl
//	go run . forget -dir out issues/42
//	go run . serve -projects 3000
//
// Without -every it makes one run and ends. A second process joins a run that has not ended. The
// rows, the marks and the queue are in a SQLite file of the folder, or in the PostgreSQL database
// that DATABASE_URL names, which several machines share. README.md describes it all.
//
// By default it uses the embedded server with generated projects, and keeps no file. With FORGE_URL
// and FORGE_TOKEN it uses a real server, and changes nothing there. serve starts such a server for
// several processes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/riverqueue/river"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/examples/internal/demo"
)

func main() { demo.Main(run) }

// settings are the flags.
type settings struct {
	dir, listen, rate, kinds string
	every, rescue            time.Duration
	workers, projects        int
}

// run is the whole program; a test runs it too.
func run(ctx context.Context, args []string, _ io.Reader, out io.Writer) error {
	command := ""
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		command, args = args[0], args[1:]
	}
	var s settings
	flags := flag.NewFlagSet("export", flag.ContinueOnError)
	flags.StringVar(&s.dir, "dir", "", "the `folder` of the files; all processes share it")
	flags.IntVar(&s.projects, "projects", 40, "the `number` of projects of the embedded server")
	switch command {
	case "":
		return runExport(ctx, flags, &s, args, out)
	case "merge", "forget":
		return runOnIndex(ctx, command, flags, &s, args, out)
	case "serve":
		addr := flags.String("addr", "127.0.0.1:8090", "the `address` to listen on")
		if err := demo.Parse(flags, args, out); err != nil {
			return err
		}
		return serve(ctx, *addr, s.projects, out)
	default:
		return fmt.Errorf("%q is not a command: there are merge, forget and serve, and none for an export", command)
	}
}

// runOnIndex executes a command that needs the database and no server.
func runOnIndex(ctx context.Context, command string, flags *flag.FlagSet, s *settings, args []string, out io.Writer) error {
	shard := ""
	if n := len(args); command == "forget" && n > 0 {
		shard, args = args[n-1], args[:n-1]
	}
	if err := demo.Parse(flags, args, out); err != nil {
		return err
	}
	if _, err := os.Stat(s.dir); err != nil {
		return fmt.Errorf("-dir names the folder of an export: %w", err)
	}
	db, err := openStore(ctx, s.dir)
	if err != nil {
		return err
	}
	defer db.close()
	if command == "merge" {
		return merge(ctx, db, s.dir, out)
	}
	changed, err := db.exec(ctx, `UPDATE export_shards SET due = 0, done = 0, problem = '' WHERE shard = $1 AND due > 0`, shard)
	if err == nil && changed == 0 {
		err = fmt.Errorf("there is no shard %q: the texts of an export name them, such as issues/42", shard)
	}
	return err
}

func runExport(ctx context.Context, flags *flag.FlagSet, s *settings, args []string, out io.Writer) error {
	flags.DurationVar(&s.every, "every", 0, "start a run in each `period`, such as 1h, until interrupted; 0 makes one run")
	flags.StringVar(&s.kinds, "kinds", strings.Join([]string{kindIssues, kindMergeRequests, kindAuditEvents}, ","), "the `kinds` of rows; audit events need an administrator")
	flags.StringVar(&s.listen, "listen", "", "the `address` of a page with the progress, such as 127.0.0.1:8088")
	flags.StringVar(&s.rate, "rate", "1800/1m", "the most `requests` of all processes in a period")
	flags.DurationVar(&s.rescue, "rescue", 2*time.Minute, "the `time` after which the shard of a killed process is given to another")
	flags.IntVar(&s.workers, "workers", 8, "the `number` of shards at a time in this process")
	if err := demo.Parse(flags, args, out); err != nil {
		return err
	}
	n, period, err := parseRate(s.rate)
	if err != nil {
		return err
	}
	if s.rescue < 4*time.Second || s.workers < 1 || s.every < 0 || s.every > 0 && s.every < time.Second {
		return errors.New("-rescue must be at least 4s, -workers at least 1, and -every at least 1s or 0")
	}
	for kind := range strings.SplitSeq(s.kinds, ",") {
		if kind != kindIssues && kind != kindMergeRequests && kind != kindAuditEvents {
			return fmt.Errorf("-kinds has %q: there are issues, merge_requests and audit_events", kind)
		}
	}
	server, err := connect(out, s.projects)
	if err != nil {
		return err
	}
	defer server.Close()
	dir, remove, err := server.Path(out, "-dir", s.dir, "out")
	if err != nil {
		return err
	}
	defer remove()
	if err := checkFolder(dir); err != nil {
		return err
	}
	db, err := openStore(ctx, dir)
	if err != nil {
		return err
	}
	defer db.close()
	client, err := server.Client.With(forge.WithLimiter(newLimiter(db, n, period)))
	if err != nil {
		return err
	}
	return work(ctx, db, client, dir, s, out)
}

// checkFolder makes the folder, and finds out whether it can be written to.
func checkFolder(dir string) error {
	err := os.MkdirAll(dir, 0o777)
	if err == nil {
		var file *os.File
		if file, err = os.CreateTemp(dir, "check-"); err == nil {
			_ = file.Close()
			err = os.Remove(file.Name())
		}
	}
	if err != nil {
		return fmt.Errorf("-dir needs a folder with space and with rights for this user: %w", err)
	}
	return nil
}

// work starts River in this process, and shows the progress until the run has ended.
func work(ctx context.Context, db store, client *forge.Client, dir string, s *settings, out io.Writer) error {
	ending := make(chan struct{})
	workers := river.NewWorkers()
	river.AddWorker(workers, &planner{db: db, client: client, kinds: strings.Split(s.kinds, ",")})
	river.AddWorker(workers, &exporter{db: db, client: client, dir: dir, part: s.rescue / 4, ending: ending})
	config := &river.Config{
		Workers: workers, Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: s.workers}},
		FetchCooldown: 20 * time.Millisecond, FetchPollInterval: 500 * time.Millisecond,
		JobTimeout: s.rescue * 3 / 4, RescueStuckJobsAfter: s.rescue,
		CompletedJobRetentionPeriod: 2 * max(s.every, time.Hour),
		SoftStopTimeout:             10 * time.Second,
		Logger:                      slog.New(slog.DiscardHandler), // what fails is in the report
	}
	if s.every > 0 {
		config.PeriodicJobs = []*river.PeriodicJob{planEvery(s.every)}
	}
	if err := db.configure(config); err != nil {
		return err
	}
	if s.every == 0 {
		if err := beginRun(ctx, db); err != nil {
			return err
		}
	}
	running := context.WithoutCancel(ctx)
	if err := db.start(running); err != nil {
		return err
	}
	stop := func() {
		close(ending)
		_ = db.stop(running)
	}
	p := &progress{db: db, out: out, listen: s.listen, once: s.every == 0}
	err := p.watch(ctx)
	stop()
	if err != nil {
		return err
	}
	return p.report(running)
}

// beginRun inserts a plan, unless a run has not ended yet: then this process joins it.
func beginRun(ctx context.Context, db store) error {
	return db.transact(ctx, func(tx transaction) error {
		open, err := one[int64](ctx, tx, unfinishedJobs)
		if err != nil || open > 0 {
			return err
		}
		return tx.insert(ctx, river.InsertManyParams{Args: planArgs{}, InsertOpts: &planOnce})
	})
}
