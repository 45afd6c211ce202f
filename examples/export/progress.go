package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/mattn/go-isatty"

	"github.com/forge-sdk/forge-go/examples/internal/demo"
)

// unfinishedJobs counts the jobs that wait or run.
const unfinishedJobs = `SELECT count(*) FROM river_job WHERE kind IN ('plan', 'shard')
	AND CAST(state AS TEXT) IN ('available', 'pending', 'retryable', 'running', 'scheduled')`

// progress shows how far a run is. All of it comes from the database, so that each process shows
// the work of all.
type progress struct {
	db     store
	out    io.Writer
	listen string
	once   bool // one run
}

// snapshot is the state of a moment.
type snapshot struct {
	Shards   int64            `json:"shards"`
	Done     int64            `json:"done"`
	Rows     int64            `json:"rows"`
	Requests int64            `json:"requests"`
	Waited   float64          `json:"waited"` // for the rate limit, in seconds, on average for a request
	Elapsed  float64          `json:"elapsed"`
	ETA      float64          `json:"eta"`
	Jobs     map[string]int64 `json:"jobs"`
	Problems []string         `json:"problems"`
	Points   []point          `json:"points"`

	open int64   // jobs that wait or run
	now  float64 // the database's clock
}

// point is the number of rows that were written until a time of the run.
type point struct {
	Seconds float64 `json:"seconds"`
	Rows    int64   `json:"rows"`
}

// look reads a snapshot. It takes a few milliseconds, which grow with the number of jobs.
func (p *progress) look(ctx context.Context) (s snapshot, err error) {
	var started, ended float64
	err = p.db.query(ctx, func(scan func(...any) error) error {
		return scan(&s.Shards, &s.Done, &s.Rows, &started, &ended, &s.now)
	}, `SELECT count(*), coalesce(sum(CASE WHEN done >= due THEN 1 ELSE 0 END), 0), CAST(coalesce(sum(row_count), 0) AS BIGINT), coalesce(max(due), 0), coalesce(max(done), 0), `+p.db.now()+`
		FROM export_shards WHERE due > 0`)
	if err != nil {
		return s, err
	}
	s.Jobs = map[string]int64{}
	err = p.db.query(ctx, func(scan func(...any) error) error {
		var state string
		var n int64
		err := scan(&state, &n)
		s.Jobs[state] = n
		return err
	}, `SELECT CAST(state AS TEXT), count(*) FROM river_job GROUP BY state`)
	if err != nil {
		return s, err
	}
	for _, state := range unfinished {
		s.open += s.Jobs[string(state)]
	}
	err = p.db.query(ctx, func(scan func(...any) error) error { return scan(&s.Requests, &s.Waited) }, `SELECT taken, waited FROM export_limit`)
	if err != nil {
		return s, err
	}
	s.Waited /= max(float64(s.Requests), 1)
	switch s.Done {
	case 0:
	case s.Shards:
		s.Elapsed = ended - started
	default:
		s.Elapsed = s.now - started
		s.ETA = s.Elapsed / float64(s.Done) * float64(s.Shards-s.Done)
	}
	if s.Points, err = p.points(ctx, started, s.Elapsed); err != nil {
		return s, err
	}
	s.Problems, err = p.problems(ctx)
	return s, err
}

// points returns at most 200 points of the run.
func (p *progress) points(ctx context.Context, started, elapsed float64) (points []point, err error) {
	step, total := max(elapsed/200, 0.05), int64(0)
	err = p.db.query(ctx, func(scan func(...any) error) error {
		var next point
		err := scan(&next.Seconds, &next.Rows)
		total += next.Rows
		points = append(points, point{(next.Seconds + 1) * step, total})
		return err
	}, `SELECT floor((written - $1) / $2) AS place, CAST(sum(row_count) AS BIGINT) FROM export_files WHERE written >= $1 GROUP BY place ORDER BY place`, started, step)
	return points, err
}

// problems returns the texts of the shards that failed or were skipped: at most 20, and a count.
func (p *progress) problems(ctx context.Context) (texts []string, err error) {
	n := 0
	err = p.db.query(ctx, func(scan func(...any) error) error {
		var text string
		if n++; n > 20 {
			return nil
		}
		err := scan(&text)
		texts = append(texts, text)
		return err
	}, `SELECT value FROM export_meta WHERE name = 'problem' UNION ALL SELECT problem FROM export_shards WHERE due > 0 AND problem <> '' LIMIT 1000`)
	if n > 20 {
		texts = append(texts, fmt.Sprintf("and %d more", n-20))
	}
	return texts, err
}

// watch shows the progress until the run has ended, or until it is interrupted. A database that
// does not respond is shown, and asked again: River does the same.
func (p *progress) watch(ctx context.Context) error {
	closePage, err := p.serve(ctx)
	if err != nil {
		return err
	}
	defer closePage()
	file, isFile := p.out.(*os.File)
	live := isFile && isatty.IsTerminal(file.Fd())
	pause := 5 * time.Second
	if live {
		pause = time.Second
	}
	lines, shown, printed := 0, time.Time{}, map[string]bool{}
	for {
		asked := time.Now()
		s, err := p.look(ctx)
		took := time.Since(asked)
		if ctx.Err() != nil && !p.once {
			return nil // the end of a service
		}
		if ctx.Err() != nil {
			return fmt.Errorf("interrupted, and the next run continues: %w", ctx.Err())
		}
		if err == nil {
			if err := checkClock(s.now); err != nil {
				return err
			}
		}
		ended := err == nil && p.once && s.open == 0
		if ended || time.Since(shown) >= pause {
			shown = time.Now()
			text := s.line(printed)
			if live {
				text = s.table()
			}
			if err != nil {
				text = fmt.Sprintf("The database does not respond, trying again: %v\n", err)
			}
			if live && lines > 0 {
				fmt.Fprintf(p.out, "\x1b[%dA\x1b[J", lines)
			}
			lines = strings.Count(text, "\n")
			fmt.Fprint(p.out, text)
		}
		if ended {
			return nil
		}
		_ = sleep(ctx, min(max(200*time.Millisecond, 20*took), 5*time.Second))
	}
}

// clock is the clock of this machine.
var clock = time.Now

// checkClock ends a process whose clock differs from the database's. Rows and marks do not depend
// on it, but River does: such a process would take shards from others, or retry hours later.
func checkClock(database float64) error {
	now := clock()
	off := now.Sub(time.UnixMicro(int64(database * 1e6))).Round(time.Second)
	if off.Abs() > time.Minute {
		return fmt.Errorf("the clock of this machine differs by %s from the database's: set it (NTP) and start again; other processes continue the run", off)
	}
	return nil
}

// line is the progress without a terminal, with the problems that were not printed yet.
func (s *snapshot) line(printed map[string]bool) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%d of %d shards, %d running, %d rows, %d requests, waits %.1fs each, ETA %s\n", s.Done, s.Shards, s.Jobs["running"], s.Rows, s.Requests, s.Waited, s.eta())
	for _, problem := range s.Problems {
		if !printed[problem] {
			text.WriteString(problem + "\n")
			printed[problem] = true
		}
	}
	return text.String()
}

// table is the progress in a terminal.
func (s *snapshot) table() string {
	const width = 30
	filled := 0
	if s.Shards > 0 {
		filled = int(s.Done * width / s.Shards)
	}
	var states []string
	for _, state := range []string{"available", "running", "retryable", "completed", "discarded"} {
		states = append(states, fmt.Sprintf("%d %s", s.Jobs[state], state))
	}
	return fmt.Sprintf("Shards    [%s%s] %d of %d\nRows      %d\nRequests  %d, waits %.1fs each\nJobs      %s\nTime      %s, ETA %s\nProblems  %d, at the end in full\n",
		strings.Repeat("#", filled), strings.Repeat(".", width-filled), s.Done, s.Shards, s.Rows, s.Requests, s.Waited,
		strings.Join(states, ", "), seconds(s.Elapsed), s.eta(), len(s.Problems))
}

// eta is the time that is left, once a shard is done.
func (s *snapshot) eta() string {
	if s.Done == 0 {
		return "unknown"
	}
	return seconds(s.ETA).String()
}

func seconds(n float64) time.Duration {
	return time.Duration(n * float64(time.Second)).Round(time.Second)
}

// report returns the finding of a run: what failed or was skipped.
func (p *progress) report(ctx context.Context) error {
	problems, err := p.problems(ctx)
	if err != nil || len(problems) == 0 {
		return err
	}
	return demo.Finding(strings.Join(problems, "\n") + "\nThe next run continues where these stopped.")
}
