package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	forge "github.com/forge-sdk/forge-go"
)

// The limits of memory growth in a run, in KiB, whatever its length: of the live heap, and of the
// RSS, which depends on the load.
const (
	heapLeeway = 1 << 10
	rssLeeway  = 16 << 10
)

// mark is the memory while there are no calls, in KiB.
type mark struct{ calls, rss, heap int64 }

func takeMark(client *forge.Client) mark {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return mark{client.Stats().Calls, rss(), int64(stats.HeapAlloc >> 10)}
}

// judge compares the halves of the run: the lower mark of the second half with the higher mark of
// the first half. It allows 1 MiB for 100,000 calls, and at least the leeway.
func (l *ledger) judge(out io.Writer, marks [4]mark) {
	calls := marks[2].calls - marks[1].calls
	for _, kind := range []struct {
		name   string
		leeway int64
		of     func(mark) int64
	}{
		{"RSS", rssLeeway, func(m mark) int64 { return m.rss }},
		{"live heap", heapLeeway, func(m mark) int64 { return m.heap }},
	} {
		grown := min(kind.of(marks[2]), kind.of(marks[3])) - max(kind.of(marks[0]), kind.of(marks[1]))
		allowed := max(calls<<10/100_000, kind.leeway)
		fmt.Fprintf(out, "%s: %+d KiB between the halves, %d are allowed\n", kind.name, grown, allowed)
		if grown > allowed {
			l.violate("the %s has grown by %d KiB in %d calls", kind.name, grown, calls)
		}
	}
}

// rss returns the memory of this process in KiB, or 0 if the system does not report it. Pages of
// the program file do not count, because they are loaded when code runs for the first time.
func rss() (size int64) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, line, _ := strings.Cut(string(status), "RssAnon:")
	_, _ = fmt.Sscan(line, &size)
	return size
}
