package broken

// UsersService depends on call, and call on it.
type UsersService struct{ name string }

func (s *UsersService) send(c *call) {
	c.url = s.name
	c.retry.attempts++
	c.header["a"] = ""
}

func (s *UsersService) types() userType { return userType(len(s.name)) }
