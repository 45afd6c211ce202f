// Program soak uses the client for a given time through nginx and toxiproxy, with faults in more
// than one of ten requests, and checks that nothing is lost, duplicated or left behind:
//
//	go run ./soak -for 10m
//
// The server side runs in a child process, so that the memory measured is the client's. After a
// violation the program exits with status 1. Without nginx it prints a message and runs without it.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	forge "github.com/forge-sdk/forge-go"
)

func main() {
	if isBench() {
		exit(serve(os.Stdin, os.Stdout))
	}
	duration := flag.Duration("for", 20*time.Second, "how long to work")
	workers := flag.Int("workers", 64, "how many goroutines call at a time")
	flag.Parse()
	exit(run(context.Background(), os.Stdout, *duration, *workers))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// run is the client's side of the program.
func run(ctx context.Context, out io.Writer, duration time.Duration, workers int) error {
	bench, err := startBench(ctx)
	if err != nil {
		return err
	}
	defer bench.stop()
	if !bench.Nginx {
		fmt.Fprintln(out, "nginx is not on the PATH: toxiproxy alone stands in front of the server")
	}
	idle := runtime.NumGoroutine()
	dialer := &dialer{fronts: bench.Fronts}
	client, err := newClient(bench, dialer)
	if err != nil {
		return err
	}
	books := newLedger()
	s := &soak{client: client, bench: bench, books: books}
	fmt.Fprintf(out, "%d workers for %s\n", workers, duration)
	fmt.Fprintf(out, "%8s %9s %8s %9s %8s %11s %12s\n", "time", "calls", "retries", "failures", "RSS KiB", "goroutines", "connections")

	var marks [4]mark
	for i := range marks {
		s.work(ctx, out, dialer, workers, duration/time.Duration(len(marks)))
		marks[i] = takeMark(client)
		fmt.Fprintf(out, "%8s %9d calls, RSS %d KiB, live heap %d KiB\n", "quiet", marks[i].calls, marks[i].rss, marks[i].heap)
	}
	books.summary(out, client.Stats())
	books.judge(out, marks)
	client.CloseIdleConnections()
	books.leftBehind(idle, dialer)
	if err := s.audit(ctx, out); err != nil {
		return err
	}
	return books.verdict(out)
}

func newClient(bench *bench, dialer *dialer) (*forge.Client, error) {
	return forge.NewClient("http://127.0.0.1", forge.WithToken(bench.Token), forge.WithHTTPClient(dialer.client()),
		forge.WithRetry(forge.RetryPolicy{MinWait: 5 * time.Millisecond, MaxWait: 100 * time.Millisecond}))
}
