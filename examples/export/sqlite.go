package main

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/riverqueue/river/riverdriver/riversqlite"
	_ "modernc.org/sqlite"
)

// openSQLite opens a file that several processes of one machine may share. A transaction takes the
// lock when it begins, so that it cannot fail later, and waits up to 20 s for it. River needs one
// connection per process.
func openSQLite(ctx context.Context, path string) (store, error) {
	db, err := sql.Open("sqlite", "file:"+path+"?_txlock=immediate&_pragma=busy_timeout(20000)&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	d := &database[*riversqlite.Driver, *sql.Tx]{
		session: sqlSession{db}, driver: riversqlite.New(db), clock: "unixepoch('subsec')",
		begin: func(ctx context.Context) (*sql.Tx, session, error) {
			tx, err := db.BeginTx(ctx, nil)
			return tx, sqlSession{tx}, err
		},
		end: func(_ context.Context, tx *sql.Tx, commit bool) error {
			if commit {
				return tx.Commit()
			}
			return tx.Rollback()
		},
		quit: func() { _ = db.Close() },
	}
	if err := d.prepare(ctx); err != nil {
		d.close()
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	return d, nil
}

// sqlSession is a session of database/sql.
type sqlSession struct {
	on interface {
		ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
		QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	}
}

func (s sqlSession) exec(ctx context.Context, query string, args ...any) (int64, error) {
	result, err := s.on.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (s sqlSession) query(ctx context.Context, visit func(func(...any) error) error, query string, args ...any) error {
	rows, err := s.on.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	return visitAll(rows, visit)
}
