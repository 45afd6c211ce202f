package forgetest

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/forge-sdk/forge-go/forgetest/internal/bzip2"
)

// archiveFile is one entry of an archive.
type archiveFile struct {
	path string // below the archive's own folder
	mode int64
	blob *blob
}

// archive is the content of an archive, fixed before it is sent.
type archive struct {
	folder string
	files  []archiveFile
	date   time.Time
}

// getArchive streams the files of a commit (Document 1 §4.3). All eight formats are real.
func getArchive(c *call) response {
	format := orElse(c.args["format"], "tar.gz")
	ref := orElse(c.text("sha"), defaultBranch)
	commit := c.project.repo.resolve(ref)
	switch c.text("ref_type") { // a branch and a tag may have the same name
	case "heads":
		commit = c.project.repo.branches[ref]
	case "tags":
		commit = c.project.repo.tags[ref]
	}
	if commit == nil {
		return notFound("File")
	}
	path := strings.Trim(c.text("path"), "/")
	start := commit.tree.find(path)
	if start.tree == nil && start.blob == nil {
		return notFound("File")
	}
	name := strings.Join([]string{c.project.slug(), strings.ReplaceAll(ref, "/", "-"), commit.ID}, "-")
	if path != "" {
		name += "-" + strings.ReplaceAll(path, "/", "-")
	}
	content := archive{folder: name, date: commit.date}
	var excluded []string
	for _, p := range c.list("exclude_paths[]") { // a path may contain a comma
		excluded = append(excluded, strings.Trim(strings.TrimSpace(p), "/"))
	}
	content.add(path, start, excluded)

	write := content.writer(format)
	a := response{status: http.StatusOK, size: -1, stream: write}
	a.set("Content-Type", "application/octet-stream")
	a.set("Content-Disposition", fmt.Sprintf(`attachment; filename="%s.%s"`, name, format))
	return a
}

func (a *archive) add(path string, e treeEntry, excluded []string) {
	if slices.Contains(excluded, path) && path != "" {
		return
	}
	if e.blob != nil {
		mode, _ := strconv.ParseInt(e.mode, 8, 64)
		a.files = append(a.files, archiveFile{path, mode & 0o777, e.blob})
		return
	}
	for _, child := range e.tree.entries {
		a.add(strings.TrimPrefix(path+"/"+child.name, "/"), child, excluded)
	}
}

func (a *archive) writer(format string) func(io.Writer) error {
	switch format {
	case "zip":
		return a.zip
	case "tar":
		return a.tar
	case "tar.gz":
		return func(w io.Writer) error { return writeThrough(gzip.NewWriter(w), a.tar) }
	}
	return func(w io.Writer) error { return writeThrough(bzip2.NewWriter(w), a.tar) }
}

// writeThrough writes through a compressor.
func writeThrough(w io.WriteCloser, write func(io.Writer) error) error {
	if err := write(w); err != nil {
		return err
	}
	return w.Close()
}

func (a *archive) tar(w io.Writer) error {
	t := tar.NewWriter(w)
	for _, f := range a.files {
		header := &tar.Header{Name: a.folder + "/" + f.path, Mode: f.mode, Size: f.blob.length(), ModTime: a.date, Typeflag: tar.TypeReg}
		if err := t.WriteHeader(header); err != nil {
			return err
		}
		if err := f.blob.copyTo(t); err != nil {
			return err
		}
	}
	return t.Close()
}

func (a *archive) zip(w io.Writer) error {
	z := zip.NewWriter(w)
	for _, f := range a.files {
		header := &zip.FileHeader{Name: a.folder + "/" + f.path, Method: zip.Deflate, Modified: a.date}
		header.SetMode(os.FileMode(f.mode))
		entry, err := z.CreateHeader(header)
		if err != nil {
			return err
		}
		if err := f.blob.copyTo(entry); err != nil {
			return err
		}
	}
	return z.Close()
}
