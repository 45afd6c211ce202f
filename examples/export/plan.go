package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	forge "github.com/forge-sdk/forge-go"
)

// The kinds of rows, which begin the names of shards: "issues/42", "merge_requests/42" and
// "audit_events".
const (
	kindIssues        = "issues"
	kindMergeRequests = "merge_requests"
	kindAuditEvents   = "audit_events"
)

// unfinished are the states of jobs that wait or run. There is one such job per shard.
var unfinished = []rivertype.JobState{rivertype.JobStateAvailable, rivertype.JobStatePending,
	rivertype.JobStateRetryable, rivertype.JobStateRunning, rivertype.JobStateScheduled}

// planArgs is the job that starts a run.
type planArgs struct{}

// Kind is the name of the job in the database.
func (planArgs) Kind() string { return "plan" }

// InsertOpts limits the attempts, as those of shards.
func (planArgs) InsertOpts() river.InsertOpts { return river.InsertOpts{MaxAttempts: maxAttempts} }

// planOnce is for a run by hand: no second plan while one waits or runs.
var planOnce = river.InsertOpts{UniqueOpts: river.UniqueOpts{ByState: unfinished}}

// planEvery starts a run in each period. All processes have it, and River lets one of them insert
// the job. A completed plan of the period counts: a new leader does not plan again.
func planEvery(period time.Duration) *river.PeriodicJob {
	return river.NewPeriodicJob(aligned(period), func() (river.JobArgs, *river.InsertOpts) {
		return planArgs{}, &river.InsertOpts{UniqueOpts: river.UniqueOpts{ByPeriod: period}}
	}, &river.PeriodicJobOpts{RunOnStart: true})
}

// aligned is the schedule of the full hours, or of another period.
type aligned time.Duration

// Next returns the start of the next period.
func (a aligned) Next(now time.Time) time.Time {
	period := time.Duration(a)
	return now.UTC().Truncate(period).Add(period)
}

// planner finds the shards, and inserts a job for each.
type planner struct {
	river.WorkerDefaults[planArgs]
	db     store
	client *forge.Client
	kinds  []string
}

// Timeout is longer than that of shards: the list of 100,000 projects has 1,000 pages.
func (*planner) Timeout(*river.Job[planArgs]) time.Duration { return 20 * time.Minute }

// NextRetry is soon.
func (*planner) NextRetry(job *river.Job[planArgs]) time.Time { return backoff(job.Attempt) }

// Work lists the projects, marks all shards as due, and inserts their jobs. Each part may run
// twice: what exists already is left as it is.
func (p *planner) Work(ctx context.Context, _ *river.Job[planArgs]) error {
	err := p.discover(ctx)
	if err != nil {
		err = fmt.Errorf("listing the projects: %w", err)
		_, _ = p.db.exec(context.WithoutCancel(ctx), `INSERT INTO export_meta VALUES ('problem', $1) ON CONFLICT (name) DO UPDATE SET value = excluded.value`, p.client.Redact(err.Error()))
	}
	if errors.Is(err, forge.ErrUnauthorized) || errors.Is(err, forge.ErrForbidden) {
		return river.JobCancel(err) // another attempt would not help
	}
	if err != nil {
		return err
	}
	var shards []string
	err = p.db.transact(ctx, func(tx transaction) error {
		shards = shards[:0]
		_, err := tx.exec(ctx, `UPDATE export_shards SET due = `+p.db.now()+` WHERE due > 0`)
		if err != nil {
			return err
		}
		if _, err := tx.exec(ctx, `DELETE FROM export_meta WHERE name = 'problem'`); err != nil {
			return err
		}
		return tx.query(ctx, func(scan func(...any) error) error {
			var shard string
			err := scan(&shard)
			shards = append(shards, shard)
			return err
		}, `SELECT shard FROM export_shards WHERE due > 0 ORDER BY shard`)
	})
	if err != nil {
		return err
	}
	for batch := range slices.Chunk(shards, 100) { // small ones: other processes wait for the lock of SQLite
		jobs := make([]river.InsertManyParams, len(batch))
		for i, shard := range batch {
			jobs[i].Args = shardArgs{shard}
		}
		err := p.db.transact(ctx, func(tx transaction) error { return tx.insert(ctx, jobs...) })
		if err != nil {
			return err
		}
	}
	return nil
}

// project is what the plan needs of a project. A feature that is off has a null or no list.
type project struct {
	ID            int64  `json:"id"`
	Path          string `json:"path_with_namespace"`
	Issues        *bool  `json:"issues_enabled"`
	MergeRequests *bool  `json:"merge_requests_enabled"`
}

// discover adds the shards of projects that are new. Those of projects that are no longer listed
// remain, so that a token that loses access is noticed.
func (p *planner) discover(ctx context.Context) error {
	var found [][2]string // shard and title
	add := func(kind string, project *project, enabled *bool) {
		if slices.Contains(p.kinds, kind) && (enabled == nil || *enabled) {
			found = append(found, [2]string{kind + "/" + strconv.FormatInt(project.ID, 10), project.Path})
		}
	}
	if slices.Contains(p.kinds, kindAuditEvents) {
		found = append(found, [2]string{kindAuditEvents, "the instance"})
	}
	all := forge.Call{Route: "/projects", Query: url.Values{"membership": {"true"}, "order_by": {"id"}, "sort": {"asc"}}}
	for project, err := range forge.ListAs[project](ctx, p.client, all) {
		if err != nil {
			return err
		}
		add(kindIssues, project, project.Issues)
		add(kindMergeRequests, project, project.MergeRequests)
		if len(found) >= 200 {
			if err := p.save(ctx, found); err != nil {
				return err
			}
			found = found[:0]
		}
	}
	return p.save(ctx, found)
}

func (p *planner) save(ctx context.Context, shards [][2]string) error {
	return p.db.transact(ctx, func(tx transaction) error {
		for _, shard := range shards {
			_, err := tx.exec(ctx, `INSERT INTO export_shards VALUES ($1, $2, 0, '', 0, 1, 0, '')
				ON CONFLICT (shard) DO UPDATE SET title = excluded.title, due = CASE WHEN export_shards.due > 0 THEN export_shards.due ELSE 1 END`, shard[0], shard[1])
			if err != nil {
				return err
			}
		}
		return nil
	})
}
