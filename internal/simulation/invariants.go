package simulation

func check(o *Outcome) []Violation { return nil }
