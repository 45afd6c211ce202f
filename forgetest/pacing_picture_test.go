package forgetest_test

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/forge-sdk/forge-go"
	"github.com/stretchr/testify/require"
)

var picture = flag.String("picture", "", "the file that TestPacingPicture writes: ../docs/pacing.svg")

// TestPacingPicture draws docs/pacing.svg from two runs of a client:
//
//	go test ./forgetest -run TestPacingPicture -picture ../docs/pacing.svg
//
// The file is not compared with a new one, as the waits without pacing are random.
func TestPacingPicture(t *testing.T) {
	if *picture == "" {
		t.Skip("it only draws")
	}
	var b strings.Builder
	b.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 430" font-family="sans-serif" font-size="13">
<rect width="760" height="430" fill="#fff"/>
`)
	for i, options := range [][]forge.Option{{forge.WithoutPacing()}, nil} {
		synctest.Test(t, func(t *testing.T) {
			s := startPaced(t, 60, 6*time.Second)
			c, seen := s.client(options...)
			began := time.Now()
			readAll(t, c, 32, 300)
			drawPanel(&b, []string{"Without pacing", "With pacing"}[i], float64(190+190*i), began, seen.all)
		})
	}
	b.WriteString(`<text x="40" y="420">seconds; 300 calls of 32 goroutines against 60 requests in 6 s, by quarter of a second</text>
</svg>
`)
	require.NoError(t, os.WriteFile(*picture, []byte(b.String()), 0o600))
}

// drawPanel draws the requests of a run, those that were refused on top of the others.
func drawPanel(b *strings.Builder, title string, bottom float64, began time.Time, seen []forge.Attempt) {
	const left, second, request = 40, 26, 1.7
	type bar struct{ accepted, refused int }
	bars, refused := make([]bar, 4*27), 0
	for _, a := range seen {
		at := &bars[int(a.Start.Sub(began)/(250*time.Millisecond))]
		if a.Status == http.StatusTooManyRequests {
			at.refused++
			refused++
		} else {
			at.accepted++
		}
	}
	fmt.Fprintf(b, "<text x=\"%d\" y=\"%g\" font-weight=\"bold\">%s: %d requests, %d refused (429)</text>\n", left, bottom-145, title, len(seen), refused)
	for window := 0; window <= 24; window += 6 {
		x := left + window*second
		fmt.Fprintf(b, "<path d=\"M%d %gV%g\" stroke=\"#bbb\" stroke-dasharray=\"4\"/><text x=\"%d\" y=\"%g\">%d</text>\n", x, bottom-135, bottom, x-4, bottom+16, window)
	}
	for i, bar := range bars {
		x, accepted, above := left+float64(i)*second/4, float64(bar.accepted)*request, float64(bar.refused)*request
		if bar.accepted > 0 {
			fmt.Fprintf(b, "<rect x=\"%g\" y=\"%.1f\" width=\"5.5\" height=\"%.1f\" fill=\"#1f6fb2\"/>\n", x, bottom-accepted, accepted)
		}
		if bar.refused > 0 {
			fmt.Fprintf(b, "<rect x=\"%g\" y=\"%.1f\" width=\"5.5\" height=\"%.1f\" fill=\"#d1342f\"/>\n", x, bottom-accepted-above, above)
		}
	}
	fmt.Fprintf(b, "<path d=\"M%d %gH740\" stroke=\"#333\"/>\n", left, bottom)
}
