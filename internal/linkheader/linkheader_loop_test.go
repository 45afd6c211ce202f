package linkheader

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A loop of any length after any number of other links is found. This needs at most four times as
// many links as lead into the loop and around it once. Links that are all different are not a loop.
func TestLoopDetector(t *testing.T) {
	for _, before := range []int{0, 1, 2, 3, 10, 100} {
		for _, length := range []int{1, 2, 3, 7, 50} {
			var d LoopDetector
			link := func(i int) string {
				if i >= before {
					i = before + (i-before)%length
				}
				return strconv.Itoa(i)
			}
			found := 0
			for found < 1000 && !d.Seen(link(found)) {
				found++
			}
			assert.GreaterOrEqual(t, found, before+length, "%d, then a loop of %d: too early", before, length)
			assert.LessOrEqual(t, found, 4*(before+length), "%d, then a loop of %d", before, length)
		}
	}
	var d LoopDetector
	for i := range 10_000 {
		assert.False(t, d.Seen(strconv.Itoa(i)), "link %d", i)
	}
}
