package main

import (
	"archive/tar"
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/examples/internal/demo"
)

type backup struct {
	client *forge.Client
	dir    string
	sums   *manifest
	mu     sync.Mutex // of out
	out    io.Writer
}

// all saves the projects. One that fails does not stop the others.
func (b *backup) all(ctx context.Context, projects []string, parallel int) error {
	var failed atomic.Int64
	var group errgroup.Group
	group.SetLimit(max(1, parallel))
	for _, project := range projects {
		group.Go(func() error {
			result, err := b.fetch(ctx, project)
			if err != nil {
				failed.Add(1)
				result = "FAILED: " + err.Error()
			}
			b.mu.Lock()
			defer b.mu.Unlock()
			fmt.Fprintf(b.out, "%-28s %s\n", project, result)
			return nil
		})
	}
	_ = group.Wait() // each error is printed
	all := demo.Count(len(projects), "project")
	switch n := failed.Load(); {
	case n > 0 && ctx.Err() != nil:
		return fmt.Errorf("interrupted: %d of %s not saved; the same command continues: %w", n, all, ctx.Err())
	case n > 0:
		return demo.Finding(fmt.Sprintf("%d of %s failed; the same command tries again", n, all))
	}
	fmt.Fprintf(b.out, "Saved and verified %s: %s\n", all, b.sums.path)
	return nil
}

// fetch requests the archive. It reads it unless the backup has it: the archive's name identifies
// the commit.
func (b *backup) fetch(ctx context.Context, project string) (result string, err error) {
	archive, err := b.client.Repositories.Archive(ctx, forge.Path(project), &forge.ArchiveOptions{Format: forge.ArchiveFormatTarGz})
	if err != nil {
		return "", err
	}
	defer archive.Close()
	name := path.Join(project, cmp.Or(archive.Name, "archive.tar.gz"))
	local, err := filepath.Localize(name)
	if err != nil {
		return "", err
	}
	target := filepath.Join(b.dir, local)
	if archive.Name != "" && b.sums.has(name, target) {
		return "unchanged", nil
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return "", err
	}
	var sum string
	var files int
	err = demo.SaveFile(target, false, func(w io.Writer) error {
		if sum, files, err = verify(io.TeeReader(archive, w)); err != nil {
			return fmt.Errorf("the archive cannot be read: %w", err)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return "saved, " + demo.Count(files, "file"), b.sums.add(name, sum)
}

// verify reads an archive to its end and returns its checksum and the number of its files.
func verify(archive io.Reader) (sum string, files int, err error) {
	hash := sha256.New()
	raw := io.TeeReader(archive, hash)
	unzipped, err := gzip.NewReader(bufio.NewReaderSize(raw, 1<<20))
	if err != nil {
		return "", 0, err
	}
	for content := tar.NewReader(unzipped); ; {
		header, err := content.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return "", 0, err
		}
		if _, err := io.Copy(io.Discard, content); err != nil {
			return "", 0, err
		}
		if header.Typeflag == tar.TypeReg {
			files++
		}
	}
	if _, err := io.Copy(io.Discard, unzipped); err != nil { // the checksum of gzip comes after the last file
		return "", 0, err
	}
	_, err = io.Copy(io.Discard, raw)
	return hex.EncodeToString(hash.Sum(nil)), files, err
}

// manifest is the file SHA256SUMS: a checksum and a name on each line, in the format of sha256sum.
type manifest struct {
	path string
	mu   sync.Mutex
	sums map[string]string // by name
}

func openManifest(dir string) (*manifest, error) {
	m := &manifest{path: filepath.Join(dir, "SHA256SUMS"), sums: map[string]string{}}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	content, err := os.ReadFile(m.path)
	if errors.Is(err, os.ErrNotExist) {
		return m, nil
	}
	for line := range strings.Lines(string(content)) {
		if sum, name, found := strings.Cut(strings.TrimRight(line, "\n"), "  "); found {
			m.sums[name] = sum
		}
	}
	return m, err
}

// has reports whether the backup has a complete copy of an archive.
func (m *manifest) has(name, target string) bool {
	m.mu.Lock()
	want, known := m.sums[name]
	m.mu.Unlock()
	if !known {
		return false
	}
	f, err := os.Open(target)
	if err != nil {
		return false
	}
	defer f.Close()
	hash := sha256.New()
	_, err = io.Copy(hash, f)
	return err == nil && hex.EncodeToString(hash.Sum(nil)) == want
}

// add records an archive. It replaces the file atomically: a crash leaves the old file or the new
// one.
func (m *manifest) add(name, sum string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sums[name] = sum
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(m.sums)) {
		fmt.Fprintf(&b, "%s  %s\n", m.sums[name], name)
	}
	return demo.SaveBytes(m.path, false, []byte(b.String()))
}
