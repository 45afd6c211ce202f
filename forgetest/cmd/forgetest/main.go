// Command forgetest runs the test server alone, for clients in other languages and for calls with
// curl.
//
//	go run github.com/forge-sdk/forge-go/forgetest/cmd/forgetest -seed demo
//
// It prints its address, an access token, a CI job token and the token of its control API, and runs
// until it is interrupted. When it stops, all data are lost.
package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/forge-sdk/forge-go/forgetest"
)

// demoData is what programs can request.
const demoData = `Data     groups acme and acme/platform; projects acme/storefront (with images), acme/billing-api,
         acme/mobile-app and acme/platform/gateway (with a repository); labels bug, feature, security
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "forgetest:", err)
		}
		os.Exit(2) //nolint:gocritic // stop only matters while the server runs
	}
}

// arguments are those of the command line.
type arguments struct {
	addr, seed, tier, offering, release, prefix, ready, control string
	tokens                                                      []string
	neutral, contractOnly, noControl, routes, verbose           bool
}

func readArguments(args []string, problems io.Writer) (a arguments, err error) {
	flags := flag.NewFlagSet("forgetest", flag.ContinueOnError)
	flags.SetOutput(problems)
	flags.StringVar(&a.addr, "addr", "127.0.0.1:8080", "address to listen on; port 0 selects a free port")
	flags.StringVar(&a.seed, "seed", "", `initial data: "demo", a JSON file, or a folder of them; empty starts without data`)
	flags.Func("token", "access token of the administrator, or name=value,role for another user, role being user or admin; may be repeated", func(value string) error {
		a.tokens = append(a.tokens, value)
		return nil
	})
	flags.StringVar(&a.tier, "tier", "", "free, premium or ultimate (default ultimate)")
	flags.StringVar(&a.offering, "offering", "", "self-managed, dedicated or hosted (default self-managed)")
	flags.StringVar(&a.release, "release", "", "release of GitLab, such as 18.2 (default the newest)")
	flags.StringVar(&a.prefix, "prefix", "", "path in front of /api/v4")
	flags.BoolVar(&a.neutral, "neutral-names", false, "use the neutral names of the API documents, in place of GitLab's")
	flags.BoolVar(&a.contractOnly, "contract-only", false, "serve no route beyond the contract")
	flags.StringVar(&a.control, "control-token", "", "token of the control API; empty generates a new one")
	flags.BoolVar(&a.noControl, "no-control", false, "serve no control API and no page")
	flags.StringVar(&a.ready, "ready-file", "", "file to write the addresses and tokens to, as JSON, once the server answers")
	flags.BoolVar(&a.routes, "routes", false, "list all routes and exit")
	flags.BoolVar(&a.verbose, "v", false, "print a line for each request")
	if err = flags.Parse(args); err == nil && flags.NArg() > 0 {
		err = fmt.Errorf("unknown argument %q: options begin with -", flags.Arg(0))
	}
	return a, err
}

// options returns those of the server. A wrong value is an error.
func (a arguments) options() (options []forgetest.Option, err error) {
	defer func() {
		if text, failed := recover().(string); failed { // of an option
			err = errors.New(strings.TrimPrefix(text, "forgetest: "))
		}
	}()
	options = []forgetest.Option{forgetest.WithAddr(a.addr), forgetest.WithPrefix(a.prefix)}
	switch a.seed {
	case "":
	case "demo":
		options = append(options, forgetest.WithDemo())
	default:
		options = append(options, forgetest.WithSeed(a.seed))
	}
	if a.tier != "" {
		options = append(options, forgetest.WithTier(forgetest.Tier(a.tier)))
	}
	if a.offering != "" {
		options = append(options, forgetest.WithOffering(forgetest.Offering(a.offering)))
	}
	if a.release != "" {
		options = append(options, forgetest.WithRelease(a.release))
	}
	if a.neutral {
		options = append(options, forgetest.WithNeutralNames())
	}
	if !a.contractOnly {
		options = append(options, forgetest.WithStarterRoutes())
	}
	for _, token := range a.tokens {
		option, err := tokenOption(token)
		if err != nil {
			return nil, err
		}
		options = append(options, option)
	}
	return options, nil
}

// tokenOption reads the value of -token.
func tokenOption(text string) (forgetest.Option, error) {
	name, rest, named := strings.Cut(text, "=")
	if !named {
		return forgetest.WithToken(text), nil
	}
	value, role, hasRole := strings.Cut(rest, ",")
	if name == "" || value == "" || !hasRole {
		return nil, fmt.Errorf("-token %q: it must be a token, or name=value,role with the role admin, guest, reporter, developer, maintainer or owner", text)
	}
	user := map[string]any{"username": name, "tokens": []any{map[string]any{"value": value}}}
	if role == "admin" {
		user["admin"] = true
	} else {
		user["role"] = role
	}
	data, err := json.Marshal(map[string]any{"users": []any{user}})
	return forgetest.WithSeedData(data), err
}

// run serves until ctx ends, or until the control API stops the server.
func run(ctx context.Context, args []string, out, problems io.Writer) error {
	a, err := readArguments(args, problems)
	if err != nil {
		return err
	}
	options, err := a.options()
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if !a.noControl {
		a.control = cmp.Or(a.control, "forgetest-control-"+strings.ToLower(rand.Text()))
		options = append(options, forgetest.WithControl(a.control, stop))
	}
	if a.verbose {
		options = append(options, forgetest.WithRequestLog(out))
	}
	if a.routes {
		options = append(options, forgetest.WithAddr("127.0.0.1:0"))
	}
	percent := debug.SetGCPercent(400) // collections of the little garbage of a start take 10 % of it
	srv, err := forgetest.Start(options...)
	debug.SetGCPercent(percent)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%w: another program serves there, perhaps a forgetest that still runs: stop it, or use -addr 127.0.0.1:0 for a free port", err)
	}
	if err != nil {
		return err
	}
	defer srv.Close()
	if a.routes {
		_, err := fmt.Fprintln(out, strings.Join(srv.RouteNames(), "\n"))
		return err
	}
	if a.seed == "demo" {
		// The clock starts at the time of the demo data and runs, so that background work finishes and
		// rate limits expire.
		started := time.Now()
		srv.SetClock(func() time.Time { return forgetest.DemoTime().Add(time.Since(started)) })
	}
	if err := a.writeReadyFile(srv); err != nil {
		return err
	}
	a.greet(srv, out)
	<-ctx.Done()
	return nil
}

// writeReadyFile writes what a program needs. The file appears complete.
func (a arguments) writeReadyFile(srv *forgetest.Server) error {
	if a.ready == "" {
		return nil
	}
	data, err := json.Marshal(map[string]string{"url": srv.URL, "token": srv.Token, "job_token": srv.JobToken, "control_token": a.control})
	if err != nil {
		return err
	}
	partial := a.ready + ".partial"
	if err := os.WriteFile(partial, append(data, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(partial, a.ready)
}

func (a arguments) greet(srv *forgetest.Server, out io.Writer) {
	fmt.Fprintf(out, "URL      %s\nToken    %s\nJob      %s\n", srv.URL, srv.Token, srv.JobToken)
	if !a.noControl {
		fmt.Fprintf(out, "Control  %s\n", a.control)
	}
	fmt.Fprintln(out)
	if a.seed == "demo" {
		fmt.Fprint(out, demoData+"\n")
	}
	fmt.Fprintf(out, "curl --header \"PRIVATE-TOKEN: %s\" \"%s/api/v4/issues?scope=all&per_page=2\"\n\n", srv.Token, srv.URL)
	fmt.Fprintln(out, "Interrupt (Ctrl-C) ends the server.")
}
