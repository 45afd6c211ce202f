package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/forge-sdk/forge-go/examples/internal/demo"
)

// entry is a file of the index.
type entry struct {
	name, shard string
	rows        int64
}

// identity is what each line of the merged output has once.
type identity struct {
	ID        int64     `json:"id"`
	UpdatedAt time.Time `json:"updated_at"`
}

// merge writes the rows of all files of the index, each (kind, id, updated_at) once: a feed yields
// every change at least once. A row is only in files of its shard, so that the memory is that
// of the largest one. If the last run is not complete, the rows are followed by a finding.
func merge(ctx context.Context, db store, dir string, out io.Writer) error {
	var files []entry
	err := db.query(ctx, func(scan func(...any) error) error {
		var file entry
		err := scan(&file.name, &file.shard, &file.rows)
		files = append(files, file)
		return err
	}, `SELECT name, shard, row_count FROM export_files ORDER BY shard, epoch`)
	if err != nil {
		return err
	}
	lines := bufio.NewWriter(out)
	var seen map[identity]bool
	for i, file := range files {
		if i == 0 || files[i-1].shard != file.shard {
			seen = map[identity]bool{}
		}
		if err := mergeFile(filepath.Join(dir, file.name), file.rows, seen, lines); err != nil {
			return fmt.Errorf("%s of the index: %w: restore the file from a copy", file.name, err)
		}
	}
	if err := lines.Flush(); err != nil {
		return err
	}
	left, err := one[int64](ctx, db, `SELECT count(*) FROM export_shards WHERE due > 0 AND done < due`)
	if err != nil || left == 0 {
		return err
	}
	return demo.Finding(fmt.Sprintf("The last run has not exported %d of its shards: their latest changes are not in the output. Run the export again.", left))
}

func mergeFile(path string, rows int64, seen map[identity]bool, out io.Writer) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	compressed, err := gzip.NewReader(file)
	if err != nil {
		return err
	}
	reader := bufio.NewReader(compressed)
	for n := int64(0); ; n++ {
		line, err := reader.ReadBytes('\n')
		if err == io.EOF && len(line) == 0 {
			if n != rows {
				return fmt.Errorf("it has %d rows, and %d were written", n, rows)
			}
			return nil
		}
		if err != nil {
			return err
		}
		var row identity
		if err := json.Unmarshal(line, &row); err != nil {
			return err
		}
		row.UpdatedAt = row.UpdatedAt.UTC() // one time, one value
		if seen[row] {
			continue
		}
		seen[row] = true
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
}
