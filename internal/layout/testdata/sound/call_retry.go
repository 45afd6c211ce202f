package sound

type retryState struct{ attempts int }

func (r *retryState) begin() { r.attempts++ }
