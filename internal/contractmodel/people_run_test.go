package contractmodel

import (
	"cmp"
	"context"
	"flag"
	"net"
	"net/http"
	"os"
	"strconv"
	"testing"

	"github.com/forge-sdk/forge-go/internal/racetest"
	"pgregory.net/rapid"
)

// peopleHTTP resets its connections when it closes them. Otherwise thousands of servers would use
// up the ports.
var peopleHTTP = &http.Client{Transport: &http.Transport{
	DisableCompression: true,
	DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		return conn, err
	},
}}

// checkModel checks a property in many cases. FORGE_SEED selects other cases, and FORGE_CASES their
// number for each list; a check has perCheck of them.
func checkModel(t *testing.T, cases, perCheck int, property func(t *rapid.T, note func(seen string))) {
	seed := cmp.Or(os.Getenv("FORGE_SEED"), "20260101")
	if n, err := strconv.Atoi(os.Getenv("FORGE_CASES")); err == nil {
		cases = n
	}
	if racetest.Enabled {
		cases /= 3
	}
	t.Logf("FORGE_SEED=%s FORGE_CASES=%d", seed, cases)
	for name, value := range map[string]string{"seed": seed, "checks": strconv.Itoa((cases + perCheck - 1) / perCheck), "nofailfile": "true", "shrinktime": "10s"} {
		f := flag.Lookup("rapid." + name)
		before := f.Value.String()
		if err := f.Value.Set(value); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Value.Set(before) })
	}
	seen := map[string]int{}
	rapid.Check(t, func(rt *rapid.T) { property(rt, func(what string) { seen[what]++ }) })
	t.Logf("observed: %v", seen)
}

// peopleQueries is the number of queries for each random world.
const peopleQueries = 4

// peopleCheck checks a list of people, runners or events.
func peopleCheck(t *testing.T, property func(t *rapid.T, note func(string))) {
	checkModel(t, 2800, peopleQueries, property)
}
