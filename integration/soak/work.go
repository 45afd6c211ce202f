package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	forge "github.com/forge-sdk/forge-go"
)

// soak is the work and its ledger.
type soak struct {
	client *forge.Client
	bench  *bench
	books  *ledger
	names  atomic.Int64
}

// work runs the workers for a time, prints a line every ten seconds, and frees memory at the end.
func (s *soak) work(ctx context.Context, out io.Writer, dialer *dialer, workers int, duration time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, duration)
	defer cancel()
	var running sync.WaitGroup
	for range workers {
		running.Go(func() { s.worker(ctx) })
	}
	begun, tick := time.Now(), time.NewTicker(10*time.Second)
	defer tick.Stop()
	line := func() {
		stats := s.client.Stats()
		fmt.Fprintf(out, "%8s %9d %8d %9d %8d %11d %12d\n", time.Since(begun).Round(time.Second), stats.Calls, stats.Retries, stats.Failures,
			rss(), runtime.NumGoroutine(), dialer.open.Load())
	}
	for ctx.Err() == nil {
		select {
		case <-tick.C:
			line()
		case <-ctx.Done():
		}
	}
	running.Wait()
	line()
	s.client.CloseIdleConnections()
	runtime.GC() // pools are empty after two collections
	debug.FreeOSMemory()
}

// worker makes calls until ctx ends. The calls themselves are not canceled, because their effects
// must be known.
func (s *soak) worker(ctx context.Context) {
	account := s.books.open()
	for ctx.Err() == nil {
		switch n := rand.N(100); {
		case n < 40:
			s.read()
		case n < 70:
			account = s.create(account)
		case n < 82:
			s.repeat(account)
		case n < 88:
			s.list()
		case n < 94:
			s.download()
		default:
			s.exchange()
		}
	}
}

func (s *soak) read() {
	user, err := s.client.Users.GetCurrent(context.Background(), nil)
	if s.books.failed("read", err) {
		return
	}
	if user.Username != "root" {
		s.books.violate("the current user is %q", user.Username)
	}
}

// create books an hour. If the outcome of a booking is unknown, its account is closed, so that each
// account's sum checks every single call.
func (s *soak) create(account int64) int64 {
	_, err := s.client.Issues.AddSpentTime(context.Background(), forge.ID(s.bench.Books), account, &forge.AddSpentTimeOptions{Duration: forge.WorkDuration(time.Hour)})
	s.books.failed("create", err)
	var failed *forge.Error
	switch errors.As(err, &failed); {
	case err == nil:
		s.books.book(account)
	case failed != nil && failed.MaybeApplied:
		s.books.doubt(account)
		return s.books.open()
	}
	return account
}

// repeat sets an estimate: a call that is retried after every failure, with the same result.
func (s *soak) repeat(account int64) {
	hours := rand.N(100) + 1
	stats, err := s.client.Issues.SetTimeEstimate(context.Background(), forge.ID(s.bench.Books), account, &forge.SetTimeEstimateOptions{Duration: forge.WorkDuration(time.Duration(hours) * time.Hour)})
	if !s.books.failed("idempotent", err) && stats.TimeEstimate != int64(hours)*3600 {
		s.books.violate("an estimate of %d h became %d s", hours, stats.TimeEstimate)
	}
}

// list reads all issues of a group in order.
func (s *soak) list() {
	next := int64(1)
	for issue, err := range s.client.Issues.ListForGroup(context.Background(), forge.Path("lists"), &forge.ListIssuesOptions{Sort: forge.SortAsc}, forge.PerPage(60), forge.Ahead(rand.N(3))) {
		if s.books.failed("list", err) {
			return
		}
		if issue.IID != next {
			s.books.violate("a list has issue %d where %d is due", issue.IID, next)
			return
		}
		next++
	}
	if next != listed+1 {
		s.books.violate("a list ended after %d of %d issues without an error", next-1, listed)
	}
}

// download reads the large file. It must be complete or end with an error.
func (s *soak) download() {
	file, err := s.client.SecureFiles.Get(context.Background(), forge.Path("lists/app"), 1)
	if s.books.failed("read", err) {
		return
	}
	s.verify(file, content(0, fileSize))
}

func (s *soak) verify(file *forge.SecureFile, want []byte) {
	download, err := s.client.SecureFiles.Download(context.Background(), forge.Path("lists/app"), file)
	if s.books.failed("download", err) {
		return
	}
	defer download.Close()
	got, err := io.ReadAll(download)
	if !s.books.failed("stream", err) && !bytes.Equal(got, want) {
		s.books.violate("a download of %d bytes differs from the %d that were stored", len(got), len(want))
	}
}

// exchange stores a file, reads it back and deletes it.
func (s *soak) exchange() {
	n := s.names.Add(1)
	stored := content(uint64(n), 32<<10)
	file, err := s.client.SecureFiles.Upload(context.Background(), forge.Path("lists/app"), &forge.UploadSecureFileOptions{Name: fmt.Sprint("file-", n), File: forge.FileBytes(stored)})
	if s.books.failed("upload", err) {
		return
	}
	s.verify(file, stored)
	err = s.client.SecureFiles.Delete(context.Background(), forge.Path("lists/app"), file.ID)
	var failed *forge.Error
	if errors.As(err, &failed) && errors.Is(err, forge.ErrNotFound) && failed.MaybeApplied {
		return // an earlier attempt has deleted it
	}
	s.books.failed("delete", err)
}

// content returns the content of a file, which depends on its number.
func content(number uint64, size int) []byte {
	var seed [32]byte
	for i := range 8 {
		seed[i] = byte(number >> (8 * i))
	}
	data := make([]byte, size)
	_, _ = rand.NewChaCha8(seed).Read(data)
	return data
}
