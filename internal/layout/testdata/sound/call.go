// Package sound keeps each rule of the layout.
package sound

type call struct{ retry retryState }

func (c *call) send() { c.retry.begin() }
