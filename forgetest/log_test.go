package forgetest

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The log keeps the latest 10,000 requests, and counts all.
func TestLogIsBounded(t *testing.T) {
	s := New(t)
	for i := range 3*loggedRequests + 5 {
		s.log.add(&Request{Route: "GET /issues", Status: i})
		assert.LessOrEqual(t, len(s.log.list), 2*loggedRequests)
	}
	kept := s.Requests()
	assert.Len(t, kept, loggedRequests)
	assert.Equal(t, []int{2*loggedRequests + 5, 3*loggedRequests + 4}, []int{kept[0].Status, kept[len(kept)-1].Status})
	assert.Equal(t, 3*loggedRequests+5, s.CountRequests("GET /issues"))
}
