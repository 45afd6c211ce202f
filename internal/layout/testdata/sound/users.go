package sound

// UsersService depends on call.
type UsersService struct{ id userID }

// Get sends a call.
func (s *UsersService) Get() userID {
	c := &call{}
	c.send()
	return s.id
}
