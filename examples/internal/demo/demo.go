// Package demo has the code that the example programs share: their start and exit, the choice of
// the server, and the confirmation of changes.
package demo

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
	"github.com/forge-sdk/forge-go/internal/savefile"
)

// Finding is the result of a check that found something. The program itself succeeded.
type Finding string //nolint:errname // not an error of the program

// Error returns the finding.
func (f Finding) Error() string { return string(f) }

// Main runs a program until it ends, is interrupted, or is stopped with SIGTERM, as CI jobs and
// services are. The process exits with 1 for a Finding and with 2 for another error.
func Main(run func(ctx context.Context, args []string, in io.Reader, out io.Writer) error) {
	log.SetFlags(0)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process immediately
	err := run(ctx, os.Args[1:], os.Stdin, os.Stdout)
	stop()
	var finding Finding
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
	case errors.As(err, &finding):
		log.Print(finding)
		os.Exit(1)
	default:
		log.Print(err)
		os.Exit(2)
	}
}

// Parse parses the flags. Other arguments are an error. Help is written to out.
func Parse(flags *flag.FlagSet, args []string, out io.Writer) error {
	flags.SetOutput(io.Discard)
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		flags.SetOutput(out)
		flags.PrintDefaults()
	case err != nil:
		err = fmt.Errorf("%w (-help lists the flags)", err)
	case flags.NArg() > 0:
		err = fmt.Errorf("%q is not a flag (-help lists them)", flags.Arg(0))
	}
	return err
}

// Server is the server that a program talks to.
type Server struct {
	// Client is a client of it.
	Client *forge.Client
	// Embedded is the server that the program started, with demo data; nil for a real one.
	Embedded *forgetest.Server
}

// Close stops an embedded server.
func (s *Server) Close() {
	if s.Embedded != nil {
		s.Embedded.Close()
	}
}

// Connect returns the server that FORGE_URL and FORGE_TOKEN name, or an embedded one with demo
// data.
func Connect(out io.Writer, program string, options ...forge.Option) (*Server, error) {
	options = append(options, forge.WithUserAgent(program+"/1.0"))
	if os.Getenv("FORGE_URL") != "" {
		client, err := forge.NewClientFromEnv(options...)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(out, "Server  %s\n\n", client.BaseURL())
		return &Server{Client: client}, nil
	}
	srv, err := forgetest.Start(forgetest.WithDemo())
	if err != nil {
		return nil, err
	}
	started := time.Now() // the server's clock starts at the time of the demo data
	srv.SetClock(func() time.Time { return forgetest.DemoTime().Add(time.Since(started)) })
	client := srv.Client(options...)
	fmt.Fprintf(out, "Server  %s (embedded, demo data; FORGE_URL and FORGE_TOKEN name a real one)\n\n", client.BaseURL())
	return &Server{Client: client, Embedded: srv}, nil
}

// Path returns the value of a flag: the path that a program writes to. With the embedded server the
// value may be empty. The path is then name in a temporary folder, which remove removes.
func (s *Server) Path(out io.Writer, flag, value, name string) (path string, remove func(), err error) {
	switch {
	case value != "":
		return value, func() {}, nil
	case s.Embedded == nil:
		return "", nil, fmt.Errorf("%s is missing: it names what to write to", flag)
	}
	dir, err := os.MkdirTemp("", "forge-example-")
	return filepath.Join(dir, name), func() {
		_ = os.RemoveAll(dir)
		fmt.Fprintf(out, "No file is kept: %s names a place for it.\n", flag)
	}, err
}

// SaveFile creates or replaces a file with what write writes. After a failure or a crash the file
// has its old content or the new one. A private file is for its owner only.
func SaveFile(path string, private bool, write func(io.Writer) error) error {
	if err := savefile.Write(path, private, write); err != nil {
		return fmt.Errorf("saving %s: %w", path, err)
	}
	return nil
}

// SaveBytes is SaveFile for content in memory.
func SaveBytes(path string, private bool, content []byte) error {
	return SaveFile(path, private, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// Confirm asks a question, unless yes is set, and reports whether the user agrees. Without a reply,
// as in a CI job, it returns an error.
func Confirm(ctx context.Context, in io.Reader, out io.Writer, yes bool, question string) (bool, error) {
	if yes {
		return true, nil
	}
	fmt.Fprintf(out, "\n%s [y/N] ", question)
	answers := make(chan string, 1)
	go func() { // reading cannot be interrupted
		defer close(answers)
		if line, err := bufio.NewReader(in).ReadString('\n'); err == nil {
			answers <- strings.ToLower(strings.TrimSpace(line))
		}
	}()
	select {
	case <-ctx.Done():
		return false, fmt.Errorf("nothing was changed: %w", ctx.Err())
	case answer, answered := <-answers:
		if !answered {
			return false, errors.New("there was no answer: nothing was changed; -yes goes on without the question")
		}
		if answer == "y" || answer == "yes" {
			return true, nil
		}
		fmt.Fprintln(out, "Nothing was changed.")
		return false, nil
	}
}

// Wait calls check at intervals growing to 10 s until it returns true, or the time has passed.
func Wait(ctx context.Context, limit time.Duration, check func() (done bool, err error)) error {
	deadline := time.Now().Add(limit)
	for pause := 500 * time.Millisecond; ; pause = min(2*pause, 10*time.Second) {
		done, err := check()
		rest := time.Until(deadline)
		if done || err != nil || rest <= 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(min(pause, rest)):
		}
	}
}

// Ref parses the value of a flag: an id or a full path.
func Ref(text string) forge.Ref {
	if id, err := strconv.ParseInt(text, 10, 64); err == nil {
		return forge.ID(id)
	}
	return forge.Path(text)
}

// ServerTime returns the time at which the server sent a response, so that ages do not depend on
// the clock of this machine.
func ServerTime(answer *forge.Response) time.Time {
	if at, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
		return at
	}
	return time.Now()
}

// Count formats a number with its noun: 1 tag, 3 tags.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
