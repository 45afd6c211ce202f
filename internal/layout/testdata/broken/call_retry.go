package broken

func (r *retryState) begin() { r.attempts++ }

func (c *call) reset() { c.retry = retryState{} }
