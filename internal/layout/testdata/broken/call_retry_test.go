package broken

import "testing"

func TestReset(t *testing.T) {
	c := &call{}
	if c.reset(); c.retry.attempts > 0 {
		t.Fatal("attempts")
	}
}
