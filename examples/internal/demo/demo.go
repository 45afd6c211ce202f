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
	"strconv"
	"strings"
	"syscall"
	"time"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
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
		fmt.Fprintf(out, "Flags of %s (the comment at the top of its main.go says more):\n", flags.Name())
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
	// Embedded is true if the program started the server, with demo data.
	Embedded bool
	// Close stops an embedded server.
	Close func()
}

// Connect returns the server that FORGE_URL and FORGE_TOKEN name, or an embedded one with demo
// data. With FORGE_VOCABULARY=gitlab its client uses the vocabulary of a GitLab server.
func Connect(out io.Writer, program string) (*Server, error) {
	options := []forge.Option{forge.WithUserAgent(program + "/1.0")}
	switch words := os.Getenv("FORGE_VOCABULARY"); words {
	case "":
	case "gitlab":
		options = append(options, forge.WithVocabulary(forge.GitLab))
	default:
		return nil, fmt.Errorf("FORGE_VOCABULARY is %q: there is only gitlab", words)
	}
	if os.Getenv("FORGE_URL") != "" {
		client, err := forge.NewClientFromEnv(options...)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(out, "Server  %s\n\n", client.BaseURL())
		return &Server{Client: client, Close: func() {}}, nil
	}
	srv, err := forgetest.Start(forgetest.WithDemo())
	if err != nil {
		return nil, err
	}
	started := time.Now() // the server's clock starts at the time of the demo data
	srv.SetClock(func() time.Time { return forgetest.DemoTime().Add(time.Since(started)) })
	client := srv.Client(forge.WithUserAgent(program + "/1.0"))
	fmt.Fprintf(out, "Server  %s (embedded, demo data; FORGE_URL and FORGE_TOKEN name a real one)\n\n", client.BaseURL())
	return &Server{Client: client, Embedded: true, Close: srv.Close}, nil
}

// Confirm asks a question and reports whether the user agrees. Without a reply, as in a CI job, it
// returns an error.
func Confirm(ctx context.Context, in io.Reader, out io.Writer, question string) (bool, error) {
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
		fmt.Fprintln(out)
		return false, errors.New("interrupted: nothing was changed")
	case answer, answered := <-answers:
		if !answered {
			fmt.Fprintln(out)
			return false, errors.New("there was no answer: nothing was changed; -yes goes on without the question")
		}
		return answer == "y" || answer == "yes", nil
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

// Ago formats how long before now something was: 40s, 12m, 7h, 23d; "never" for the zero time.
func Ago(now, at time.Time) string {
	if at.IsZero() {
		return "never"
	}
	switch age := max(now.Sub(at), 0); {
	case age < time.Minute:
		return fmt.Sprintf("%.0fs", age.Seconds())
	case age < time.Hour:
		return fmt.Sprintf("%dm", int(age.Minutes()))
	case age < 48*time.Hour:
		return fmt.Sprintf("%dh", int(age.Hours()))
	default:
		return fmt.Sprintf("%dd", int(age.Hours()/24))
	}
}

// Count formats a number with its noun: 1 tag, 3 tags.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
