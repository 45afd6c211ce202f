package demotest

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWrongPlurals(t *testing.T) {
	for _, text := range []string{"saved, 1 files", "1 waits", "the limit (1 times)", "ok\n1 events in 3s"} {
		assert.Len(t, wrongPlurals(text), 1, text)
	}
	for _, text := range []string{"1 file", "11 files", "0.1 files", "version 1.1 starts", "127.0.0.1 answers", "a-1 tags", "page 1\nfiles"} {
		assert.Empty(t, wrongPlurals(text), text)
	}
}
