package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
)

// openPostgres opens a database that the processes of several machines share.
func openPostgres(ctx context.Context, address string) (store, error) {
	pool, err := pgxpool.New(ctx, address)
	if err != nil {
		return nil, fmt.Errorf("DATABASE_URL: %w", err) // pgx leaves the password out
	}
	d := &database[*riverpgxv5.Driver, pgx.Tx]{
		session: pgxSession{pool}, driver: riverpgxv5.New(pool), clock: "(extract(epoch FROM clock_timestamp())::double precision)",
		begin: func(ctx context.Context) (pgx.Tx, session, error) {
			tx, err := pool.Begin(ctx)
			return tx, pgxSession{tx}, err
		},
		end: func(ctx context.Context, tx pgx.Tx, commit bool) error {
			if commit {
				return tx.Commit(ctx)
			}
			return tx.Rollback(ctx)
		},
		quit: pool.Close,
	}
	if err := d.prepare(ctx); err != nil {
		d.close()
		return nil, fmt.Errorf("opening the database of DATABASE_URL: %w", err)
	}
	return d, nil
}

// pgxSession is a session of pgx.
type pgxSession struct {
	on interface {
		Exec(ctx context.Context, query string, args ...any) (pgconn.CommandTag, error)
		Query(ctx context.Context, query string, args ...any) (pgx.Rows, error)
	}
}

func (s pgxSession) exec(ctx context.Context, query string, args ...any) (int64, error) {
	tag, err := s.on.Exec(ctx, query, args...)
	return tag.RowsAffected(), err
}

func (s pgxSession) query(ctx context.Context, visit func(func(...any) error) error, query string, args ...any) error {
	rows, err := s.on.Query(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	return visitAll(rows, visit)
}
