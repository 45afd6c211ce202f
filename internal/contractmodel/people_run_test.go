package contractmodel

import (
	"context"
	"flag"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

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

// peopleCheck checks a property in many cases. FORGE_SEED selects other cases, and FORGE_CASES
// their number for each list.
func peopleCheck(t *testing.T, property func(t *rapid.T, note func(reading string))) {
	seed, cases := "20260101", strconv.Itoa(peopleCases)
	if text := os.Getenv("FORGE_SEED"); text != "" {
		seed = text
	}
	if text := os.Getenv("FORGE_CASES"); text != "" {
		cases = text
	}
	t.Logf("FORGE_SEED=%s FORGE_CASES=%s", seed, cases)
	for name, value := range map[string]string{"seed": seed, "checks": cases, "nofailfile": "true", "shrinktime": "10s"} {
		f := flag.Lookup("rapid." + name)
		before := f.Value.String()
		if err := f.Value.Set(value); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Value.Set(before) })
	}
	seen := map[string]int{}
	t.Cleanup(func() { peopleReport(t, seen) })
	rapid.Check(t, func(rt *rapid.T) {
		property(rt, func(reading string) { seen[reading]++ })
	})
}

// peopleReport logs the choices of the server at the points that the documents leave open.
func peopleReport(t *testing.T, seen map[string]int) {
	var lines []string
	for reading, n := range seen {
		lines = append(lines, strconv.Itoa(n)+" "+reading)
	}
	slices.Sort(lines)
	t.Logf("observed:\n%s", strings.Join(lines, "\n"))
}

// peopleNote counts the status of a case, and at each open point the choices that agree with it.
func peopleNote(q *peopleQuery, pages []*peoplePage, fitting []peopleAnswer, note func(string)) {
	note(q.List + " " + strconv.Itoa(pages[0].status))
	choices := map[string][]string{}
	for _, a := range fitting {
		for choice := range strings.FieldsSeq(a.Reading) {
			point, _, _ := strings.Cut(choice, "=")
			if !slices.Contains(choices[point], choice) {
				choices[point] = append(choices[point], choice)
			}
		}
	}
	for _, c := range choices {
		if len(c) == 1 {
			note(q.List + " open point: " + c[0])
		}
	}
	if pages[0].status == http.StatusOK && len(pages) > 1 {
		note(q.List + " with several pages")
	}
	if pages[0].status == http.StatusOK && len(pages[0].ids) > 0 {
		for name := range q.Params {
			note(q.List + " found by " + name)
		}
	}
}
