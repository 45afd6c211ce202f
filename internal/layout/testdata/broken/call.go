// Package broken breaks each rule of the layout.
package broken

type call struct {
	retry  retryState
	url    string
	header map[string]string
}

type retryState struct {
	attempts int
	counts   map[string]int
	last     attempt
}

type attempt struct{ status int }

func (c *call) send(s *UsersService) { s.send(c) }
