package sound

type userID int

// Service makes a circle of the files of one service.
func (u userID) Service() *UsersService { return &UsersService{u} }
