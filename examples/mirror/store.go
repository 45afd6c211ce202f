package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	_ "modernc.org/sqlite"

	forge "github.com/forge-sdk/forge-go"
)

// store is the copy: the items, and for each list the mark and the number of its sweep. Items that
// the current sweep has not seen have the number of an earlier one.
type store struct{ *sql.DB }

const schema = `
CREATE TABLE IF NOT EXISTS items (
	list TEXT, id INTEGER, project_id INTEGER, iid INTEGER, title TEXT, state TEXT, updated_at TEXT, json TEXT, sweep INTEGER,
	PRIMARY KEY (list, id));
CREATE TABLE IF NOT EXISTS lists (list TEXT PRIMARY KEY, mark TEXT, sweep INTEGER, sweeping INTEGER);`

func openStore(ctx context.Context, path string) (*store, error) {
	db, err := sql.Open("sqlite", path+"?_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)&_pragma=busy_timeout(5000)")
	if err != nil {
		return nil, err
	}
	if _, err := db.ExecContext(ctx, schema); err != nil {
		_ = db.Close()
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	return &store{db}, nil
}

// listState is where a list is continued.
type listState struct {
	name  string
	mark  forge.Mark
	sweep int64
}

// begin returns where a list is continued. A sweep begins at the zero mark, and one that was
// interrupted is continued; so is the first run, which is a sweep, too.
func (s *store) begin(ctx context.Context, name string, sweep bool) (state listState, err error) {
	var sweeping bool
	err = s.QueryRowContext(ctx, `SELECT mark, sweep, sweeping FROM lists WHERE list = ?`, name).Scan(&state.mark, &state.sweep, &sweeping)
	if state.name = name; err == nil && (sweeping || !sweep) {
		return state, nil
	}
	if err != nil && err != sql.ErrNoRows { //nolint:errorlint // database/sql does not wrap it
		return state, err
	}
	state.mark, state.sweep = "", state.sweep+1
	_, err = s.ExecContext(ctx, `INSERT OR REPLACE INTO lists VALUES (?, '', ?, TRUE)`, name, state.sweep)
	return state, err
}

// save stores items and the mark that belongs to them in one transaction. At the end of a sweep it
// removes what the sweep has not seen.
func save[T forge.Issue | forge.MergeRequest](ctx context.Context, s *store, state listState, items []*T, mark forge.Mark, end bool) error {
	tx, err := s.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // without effect after Commit
	for _, item := range items {
		text, err := json.Marshal(item)
		if err != nil {
			return err
		}
		var row struct {
			ID        int64  `json:"id"`
			ProjectID int64  `json:"project_id"`
			IID       int64  `json:"iid"`
			Title     string `json:"title"`
			State     string `json:"state"`
			UpdatedAt string `json:"updated_at"`
		}
		if err := json.Unmarshal(text, &row); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO items VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			state.name, row.ID, row.ProjectID, row.IID, row.Title, row.State, row.UpdatedAt, string(text), state.sweep); err != nil {
			return err
		}
	}
	if end {
		if _, err := tx.ExecContext(ctx, `DELETE FROM items WHERE list = ? AND sweep < ?`, state.name, state.sweep); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, `UPDATE lists SET mark = ?, sweeping = sweeping AND NOT ? WHERE list = ?`, string(mark), end, state.name); err != nil {
		return err
	}
	return tx.Commit()
}

// count returns the number of items in the copy of a list.
func (s *store) count(ctx context.Context, name string) (n int) {
	_ = s.QueryRowContext(ctx, `SELECT count(*) FROM items WHERE list = ?`, name).Scan(&n)
	return n
}
