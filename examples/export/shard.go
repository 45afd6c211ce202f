package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/riverqueue/river"

	forge "github.com/forge-sdk/forge-go"
)

// shardArgs is the job that exports what has changed in one shard.
type shardArgs struct {
	Shard string `json:"shard" river:"unique"`
}

// Kind is the name of the job in the database.
func (shardArgs) Kind() string { return "shard" }

// maxAttempts are about a minute. What failed then is reported, and the next run tries again.
const maxAttempts = 6

// InsertOpts lets each shard have one job that waits or runs.
func (shardArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{MaxAttempts: maxAttempts, UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: unfinished}}
}

// backoff returns the time of the attempt after this one: in 1 s, 2 s, 4 s and so on.
func backoff(attempt int) time.Time {
	return time.Now().Add(time.Second << min(attempt-1, 6))
}

// errTaken: another worker has the shard. River does that when a worker seems to be gone.
var errTaken = errors.New("another worker has taken over the shard: nothing was stored here")

// exporter exports shards.
type exporter struct {
	river.WorkerDefaults[shardArgs]
	db     store
	client *forge.Client
	dir    string
	// part is how long a job reads. The rest is for a next job, so that a large shard makes
	// progress, and no job comes near the time limit.
	part time.Duration
	// ending is closed when the process has to end: jobs store what they have.
	ending <-chan struct{}
}

// NextRetry is soon.
func (*exporter) NextRetry(job *river.Job[shardArgs]) time.Time { return backoff(job.Attempt) }

// claim is a shard that belongs to this attempt. Each attempt has a higher epoch, and only the
// latest may store something: an older one, which was only slow, cannot disturb it.
type claim struct {
	shard, title string
	epoch        int64
	mark         string
}

// Work is an attempt.
func (e *exporter) Work(ctx context.Context, job *river.Job[shardArgs]) error {
	c := claim{shard: job.Args.Shard}
	err := e.db.query(ctx, func(scan func(...any) error) error { return scan(&c.title, &c.epoch, &c.mark) },
		`UPDATE export_shards SET epoch = epoch + 1 WHERE shard = $1 RETURNING title, epoch, mark`, c.shard)
	if err != nil {
		return err
	}
	err = e.export(ctx, job, c)
	if err == nil || errors.Is(err, errTaken) {
		return err
	}
	if e.isEnding() {
		return river.JobSnooze(time.Second) // no attempt is counted
	}
	problem := e.client.Redact(fmt.Sprintf("%s of %s: %v", c.shard, c.title, err))
	if errors.Is(err, forge.ErrNotFound) || errors.Is(err, forge.ErrForbidden) {
		problem = e.client.Redact(fmt.Sprintf(`%s of %s is skipped: the token cannot see it (%v). Give its user access, or end the export of the shard: export forget %[1]s`, c.shard, c.title, err))
		return e.db.transact(ctx, func(tx transaction) error {
			if err := e.update(ctx, tx, c, `problem = $3, done = `+e.db.now(), problem); err != nil {
				return err
			}
			return tx.complete(ctx, job)
		})
	}
	_ = e.update(context.WithoutCancel(ctx), e.db, c, `problem = $3`, problem)
	return errors.New(problem)
}

func (e *exporter) isEnding() bool {
	select {
	case <-e.ending:
		return true
	default:
		return false
	}
}

// update changes the row of the shard, if the shard still belongs to this attempt.
func (e *exporter) update(ctx context.Context, s session, c claim, set string, args ...any) error {
	changed, err := s.exec(ctx, `UPDATE export_shards SET `+set+` WHERE shard = $1 AND epoch = $2`, append([]any{c.shard, c.epoch}, args...)...)
	if err == nil && changed == 0 {
		return errTaken
	}
	return err
}

// export writes the file, and then stores its entry, the mark and the completion of the job in one
// transaction. If that fails, the file has no entry, unless only the response was lost. So it is
// never removed here: the next attempt removes what has no entry.
func (e *exporter) export(ctx context.Context, job *river.Job[shardArgs], c claim) error {
	if err := e.removeOrphans(ctx, c); err != nil {
		return err
	}
	file, err := e.write(ctx, c)
	if err != nil {
		return err
	}
	return e.db.transact(ctx, func(tx transaction) error {
		done := `done = ` + e.db.now()
		if file.more {
			done = `done = done`
		}
		if err := e.update(ctx, tx, c, `mark = $3, row_count = row_count + $4, problem = '', `+done, string(file.mark), file.rows); err != nil {
			return err
		}
		if file.rows > 0 {
			_, err := tx.exec(ctx, `INSERT INTO export_files VALUES ($1, $2, $3, $4, `+e.db.now()+`)`, file.name, c.shard, c.epoch, file.rows)
			if err != nil {
				return err
			}
		}
		if err := tx.complete(ctx, job); err != nil || !file.more {
			return err
		}
		return tx.insert(ctx, river.InsertManyParams{Args: job.Args})
	})
}

// kind returns the kind of the shard's rows and the project that they belong to.
func (c claim) kind() (kind, project string) {
	kind, project, _ = strings.Cut(c.shard, "/")
	return kind, project
}
