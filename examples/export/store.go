package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"
)

// session runs SQL that both databases understand, in a transaction or outside. Times are seconds
// since 1970 of the database's clock: those of the machines may differ.
type session interface {
	exec(ctx context.Context, query string, args ...any) (changed int64, err error)
	// query calls visit for each row.
	query(ctx context.Context, visit func(scan func(...any) error) error, query string, args ...any) error
}

// visitAll calls visit for each row of a driver.
func visitAll(rows interface {
	Next() bool
	Scan(into ...any) error
	Err() error
}, visit func(scan func(...any) error) error) error {
	for rows.Next() {
		if err := visit(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// transaction is a session whose changes are stored together, with those of River's jobs.
type transaction interface {
	session
	// complete marks the job as completed.
	complete(ctx context.Context, job *river.Job[shardArgs]) error
	// insert adds jobs. A unique job that waits or runs already is omitted.
	insert(ctx context.Context, jobs ...river.InsertManyParams) error
}

// store is the database: the tables of this program, and those of River.
type store interface {
	session
	transact(ctx context.Context, work func(transaction) error) error
	// now is the database's clock as an SQL expression.
	now() string
	// configure makes the client of River, whose methods need it.
	configure(config *river.Config) error
	start(ctx context.Context) error
	stop(ctx context.Context) error
	close()
}

// schemaVersion is that of the tables below. A program of another version must not use them.
const schemaVersion = 1

const schema = `
CREATE TABLE IF NOT EXISTS export_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS export_shards (
	shard TEXT PRIMARY KEY, title TEXT NOT NULL, epoch BIGINT NOT NULL, mark TEXT NOT NULL, row_count BIGINT NOT NULL,
	due DOUBLE PRECISION NOT NULL, done DOUBLE PRECISION NOT NULL, problem TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS export_files (
	name TEXT PRIMARY KEY, shard TEXT NOT NULL, epoch BIGINT NOT NULL, row_count BIGINT NOT NULL,
	written DOUBLE PRECISION NOT NULL);
CREATE INDEX IF NOT EXISTS export_files_shard ON export_files (shard, epoch);
CREATE INDEX IF NOT EXISTS export_files_written ON export_files (written);
CREATE TABLE IF NOT EXISTS export_limit (
	id BIGINT PRIMARY KEY, next DOUBLE PRECISION NOT NULL, taken BIGINT NOT NULL, waited DOUBLE PRECISION NOT NULL);
INSERT INTO export_limit VALUES (1, 0, 0, 0) ON CONFLICT DO NOTHING;`

// openStore opens the database that DATABASE_URL names, or a SQLite file in the folder.
func openStore(ctx context.Context, dir string) (store, error) {
	address := os.Getenv("DATABASE_URL")
	if address == "" {
		return openSQLite(ctx, filepath.Join(dir, "export.db"))
	}
	scheme := "" // the address has a password: no error may have it
	if parsed, err := url.Parse(address); err == nil {
		scheme = parsed.Scheme
	}
	if scheme != "postgres" && scheme != "postgresql" {
		return nil, fmt.Errorf("DATABASE_URL has the scheme %q: use postgres://..., or unset it for a SQLite file in the folder", scheme)
	}
	return openPostgres(ctx, address)
}

// database is a store: a driver of River with its type of transaction.
type database[D riverdriver.Driver[Tx], Tx any] struct {
	session
	driver D
	client *river.Client[Tx]
	clock  string // see now

	begin func(context.Context) (Tx, session, error)
	end   func(ctx context.Context, tx Tx, commit bool) error
	quit  func()
}

func (d *database[D, Tx]) now() string                     { return d.clock }
func (d *database[D, Tx]) start(ctx context.Context) error { return d.client.Start(ctx) }
func (d *database[D, Tx]) stop(ctx context.Context) error  { return d.client.Stop(ctx) }
func (d *database[D, Tx]) close()                          { d.quit() }

func (d *database[D, Tx]) configure(config *river.Config) (err error) {
	d.client, err = river.NewClient(d.driver, config)
	return err
}

func (d *database[D, Tx]) transact(ctx context.Context, work func(transaction) error) error {
	tx, inner, err := d.begin(ctx)
	if err != nil {
		return err
	}
	if err := work(&unit[D, Tx]{inner, d, tx}); err != nil {
		_ = d.end(context.WithoutCancel(ctx), tx, false)
		return err
	}
	return d.end(ctx, tx, true)
}

// unit is a transaction of a database.
type unit[D riverdriver.Driver[Tx], Tx any] struct {
	session
	db *database[D, Tx]
	tx Tx
}

func (u *unit[D, Tx]) complete(ctx context.Context, job *river.Job[shardArgs]) error {
	completed, err := river.JobCompleteTx[D](ctx, u.tx, job)
	if errors.Is(err, rivertype.ErrNotFound) || err == nil && completed.State != rivertype.JobStateCompleted {
		return errTaken // the job no longer runs: it was rescued
	}
	return err
}

func (u *unit[D, Tx]) insert(ctx context.Context, jobs ...river.InsertManyParams) error {
	_, err := u.db.client.InsertManyTx(ctx, u.tx, jobs)
	return err
}

// prepare creates the tables. Several processes may do it at the same time: then those that lose
// try again. A database of a newer program is an error.
func (d *database[D, Tx]) prepare(ctx context.Context) error {
	migrator, err := rivermigrate.New(d.driver, &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	for attempt := 1; ; attempt++ {
		err = d.prepareOnce(ctx, migrator)
		var other schemaError
		if err == nil || errors.As(err, &other) || attempt == 5 {
			return err
		}
		if err := sleep(ctx, time.Duration(attempt)*200*time.Millisecond); err != nil {
			return err
		}
	}
}

// schemaError says that the database belongs to another version.
type schemaError string

func (e schemaError) Error() string { return string(e) }

func (d *database[D, Tx]) prepareOnce(ctx context.Context, migrator *rivermigrate.Migrator[Tx]) error {
	if _, err := d.exec(ctx, schema); err != nil {
		return err
	}
	version := strconv.Itoa(schemaVersion)
	if _, err := d.exec(ctx, `INSERT INTO export_meta VALUES ('schema', $1) ON CONFLICT DO NOTHING`, version); err != nil {
		return err
	}
	found, err := one[string](ctx, d, `SELECT value FROM export_meta WHERE name = 'schema'`)
	if err != nil {
		return err
	}
	if found != version {
		return schemaError(fmt.Sprintf("the database has the tables of version %s, and this program needs %s: use the program that wrote it, or another database", found, version))
	}
	known := migrator.AllVersions()
	latest := int64(known[len(known)-1].Version)
	newest, err := one[int64](ctx, d, `SELECT max(version) FROM river_migration WHERE line = 'main'`)
	switch {
	case err == nil && newest > latest:
		return schemaError(fmt.Sprintf("River's tables have version %d, and this program knows %d: update it, or use another database", newest, latest))
	case err == nil && newest == latest:
		return nil
	}
	_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return err
}

// one returns the value of a query with one column, and with one row at most.
func one[T any](ctx context.Context, s session, query string, args ...any) (value T, err error) {
	err = s.query(ctx, func(scan func(...any) error) error { return scan(&value) }, query, args...)
	return value, err
}

// sleep waits, or returns the error of the context.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
