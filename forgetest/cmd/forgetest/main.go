// Command forgetest runs the test server alone, for clients in other languages and for calls with
// curl.
//
//	go run github.com/forge-sdk/forge-go/forgetest/cmd/forgetest -seed demo
//
// It prints its address, an access token and a CI job token, and runs until it is interrupted. When
// it stops, all data are lost.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/forge-sdk/forge-go/forgetest"
)

// demoData is what programs can request.
const demoData = `Data   groups acme and acme/platform; projects acme/storefront (with images), acme/billing-api,
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

// run serves until ctx ends.
func run(ctx context.Context, args []string, out, problems io.Writer) error {
	flags := flag.NewFlagSet("forgetest", flag.ContinueOnError)
	flags.SetOutput(problems)
	addr := flags.String("addr", "127.0.0.1:8080", "address to listen on; port 0 selects a free port")
	seed := flags.String("seed", "", `initial data: "demo"; empty starts without data`)
	token := flags.String("token", "", "access token of the administrator; empty generates a new one")
	neutral := flags.Bool("neutral-names", false, "use the neutral names of the API documents, in place of GitLab's")
	if err := flags.Parse(args); err != nil {
		return err
	}
	options := []forgetest.Option{forgetest.WithAddr(*addr)}
	switch *seed {
	case "":
	case "demo":
		options = append(options, forgetest.WithDemo())
	default:
		return fmt.Errorf("-seed %q: use demo, which is the only seed", *seed)
	}
	if *token != "" {
		options = append(options, forgetest.WithToken(*token))
	}
	if *neutral {
		options = append(options, forgetest.WithNeutralNames())
	}
	srv, err := forgetest.Start(options...)
	if err != nil {
		return err
	}
	defer srv.Close()
	if *seed == "demo" {
		// The clock starts at the time of the demo data and runs, so that background work finishes and
		// rate limits expire.
		started := time.Now()
		srv.SetClock(func() time.Time { return forgetest.DemoTime().Add(time.Since(started)) })
	}
	fmt.Fprintf(out, "URL    %s\nToken  %s\nJob    %s\n\n", srv.URL, srv.Token, srv.JobToken)
	if *seed == "demo" {
		fmt.Fprint(out, demoData+"\n")
	}
	fmt.Fprintf(out, "curl --header \"PRIVATE-TOKEN: %s\" \"%s/api/v4/issues?scope=all&per_page=2\"\n\n", srv.Token, srv.URL)
	fmt.Fprintln(out, "Interrupt (Ctrl-C) ends the server.")
	<-ctx.Done()
	return nil
}
