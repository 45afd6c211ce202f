package broken

func testing() {}
