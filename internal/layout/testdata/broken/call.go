// Package broken breaks each rule of the layout.
package broken

type call struct {
	retry  retryState
	url    string
	header map[string]string
}

type retryState struct {
	record
	attempts int
	counts   map[string]int
	last     attempt
}

type record struct{ wait int }

type attempt struct{ status int }

func (c *call) send(s *UsersService) { s.send(c) }
