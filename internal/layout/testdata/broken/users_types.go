package broken

type userType int

func (u userType) service() *UsersService { return nil }

// assign assigns to a part of call in each way.
func (c *call) assign(r *retryState) *int {
	c.retry.attempts, c.url = 1, ""
	r.attempts += 2
	(c.retry).counts["a"] = 3
	for c.retry.attempts = range 4 {
		c.retry.last.status = 5
	}
	n := r.counts["a"] + r.attempts
	_ = n
	c.retry.wait = 6
	return &r.attempts
}
