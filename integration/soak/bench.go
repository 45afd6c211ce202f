package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/forge-sdk/forge-go/forgetest"
	"github.com/forge-sdk/forge-go/integration/internal/nginxtest"
	"github.com/forge-sdk/forge-go/integration/internal/toxitest"
)

const (
	benchVariable = "FORGE_SOAK_BENCH" // set in the child process
	listed        = 300                // issues in the project that is listed
	accounts      = 40_000             // issues on which time is booked
	fileSize      = 256 << 10
	faultEvery    = 6 // requests
)

// bench describes the server side, which runs in the child process: nginx, toxiproxy and the server
// itself.
type bench struct {
	// Fronts are the addresses that the client connects to, in turn.
	Fronts []string
	// Direct is the address of the server itself.
	Direct string
	Token  string
	// Books is the project on which time is booked.
	Books int64
	Nginx bool

	heal func() (spoiled, error) // ends the faults of the server itself
	stop func()
}

// spoiled counts the server's own faults, without those of toxiproxy.
type spoiled struct{ Requests, Faults int }

func isBench() bool { return os.Getenv(benchVariable) != "" }

// startBench runs this program again as the child process. The child ends when its standard input
// is closed.
func startBench(ctx context.Context) (*bench, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	child := exec.CommandContext(ctx, program)
	child.Env = append(os.Environ(), benchVariable+"=1")
	child.Stderr = os.Stderr
	input, err := child.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := child.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := child.Start(); err != nil {
		return nil, err
	}
	answers := json.NewDecoder(output)
	b := &bench{
		heal: func() (report spoiled, err error) {
			_, err = input.Write([]byte{'\n'})
			return report, errors.Join(err, answers.Decode(&report))
		},
		stop: func() {
			_ = input.Close()
			_ = child.Wait()
		},
	}
	if err := answers.Decode(b); err != nil {
		b.stop()
		return nil, fmt.Errorf("the server side did not start: %w", err)
	}
	return b, nil
}

// serve runs the server side in the child process.
func serve(in io.Reader, out io.Writer) error {
	server, err := forgetest.Start()
	if err != nil {
		return err
	}
	defer server.Close()
	list, books := server.AddProject("lists/app"), server.AddProject("books/app")
	list.AddIssues(listed, nil)
	list.AddSecureFile("large.bin", content(0, fileSize), nil)
	books.AddIssues(accounts, nil)
	b := bench{Direct: server.URL, Token: server.Token, Books: books.ID}

	closers, err := b.stand(server.URL)
	defer func() {
		for _, stop := range slices.Backward(closers) {
			stop()
		}
	}()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	faults := make(chan int)
	go func() { faults <- spoil(ctx, server) }()
	if err := json.NewEncoder(out).Encode(b); err != nil {
		return err
	}
	if _, err := in.Read(make([]byte, 1)); err != nil {
		return nil // ended without an audit
	}
	cancel()
	report := spoiled{Requests: server.CountRequests("*"), Faults: <-faults}
	server.ClearFaults()
	if err := json.NewEncoder(out).Encode(report); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, in)
	return err
}

// stand puts toxiproxy, nginx and toxiproxy again in front of the server. It returns the functions
// that stop them, also after a failure.
func (b *bench) stand(address string) (closers []func(), err error) {
	if b.Fronts, closers, err = poison(address, nil); err != nil {
		return closers, err
	}
	dir, err := os.MkdirTemp("", "forge-soak-")
	if err != nil {
		return closers, err
	}
	closers = append(closers, func() { _ = os.RemoveAll(dir) })
	nginx, err := nginxtest.Start(dir, nginxConfig(b.Fronts))
	if errors.Is(err, nginxtest.ErrMissing) {
		return closers, nil
	}
	if err != nil {
		return closers, err
	}
	closers = append(closers, nginx.Stop)
	b.Nginx = true
	b.Fronts, closers, err = poison(nginx.URL, closers)
	return closers, err
}

// poison starts proxies in front of an address. Most of them have no fault; the others reset,
// truncate, slow down or silence some connections.
func poison(address string, closers []func()) (fronts []string, all []func(), err error) {
	for _, toxics := range [][]toxitest.Toxic{
		nil,
		{{Type: "latency", Attributes: map[string]int{"latency": 3, "jitter": 3}}},
		{{Type: "slicer", Attributes: map[string]int{"average_size": 1000, "size_variation": 800}}},
		{{Type: "reset_peer", Toxicity: 0.2}},
		{{Type: "reset_peer", Stream: "upstream", Toxicity: 0.2}},
		{{Type: "limit_data", Toxicity: 0.5, Attributes: map[string]int{"bytes": 300 << 10}}},
		{{Type: "limit_data", Stream: "upstream", Toxicity: 0.5, Attributes: map[string]int{"bytes": 40 << 10}}},
		{{Type: "timeout", Toxicity: 0.05, Attributes: map[string]int{"timeout": 200}}},
	} {
		proxy, err := toxitest.Start(address, toxics...)
		if err != nil {
			return nil, closers, err
		}
		closers = append(closers, proxy.Close)
		fronts = append(fronts, proxy.Address)
	}
	return fronts, closers, nil
}

// nginxConfig distributes requests over the proxies. nginx itself retries nothing.
func nginxConfig(upstreams []string) nginxtest.Config {
	var list strings.Builder
	for _, address := range upstreams {
		fmt.Fprintf(&list, "server %s max_fails=0; ", address)
	}
	return nginxtest.Config{
		HTTP: "upstream forge { " + list.String() + " keepalive 32; } keepalive_requests 500;",
		Server: `client_max_body_size 8m;
			location / { proxy_pass http://forge; proxy_set_header Connection ""; proxy_next_upstream off; }`,
	}
}

// spoil makes the server itself fail one of faultEvery requests, with each kind of fault in turn,
// and returns the number of faults.
func spoil(ctx context.Context, server *forgetest.Server) (n int) {
	faults := []forgetest.Fault{
		forgetest.Status(502), forgetest.DropRequest(), forgetest.DropResponse(), forgetest.TruncateBody(40), forgetest.Status(503),
		forgetest.Delay(50 * time.Millisecond), forgetest.HeaderDelay(50 * time.Millisecond), forgetest.Status(504), forgetest.Status(500),
		forgetest.InvalidJSON(),
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return n
		case <-tick.C:
		}
		if due := server.CountRequests("*")/faultEvery - n; due > 0 {
			server.ClearFaults() // used-up faults would stay in the server's list
			for range due {
				server.Fail("*", faults[n%len(faults)].Times(1))
				n++
			}
		}
	}
}
