// Package mutants has a function for the mutator. Each line is there for one kind of mutant.
package mutants

import "errors"

type stack[T any] struct {
	items []T
	limit int
}

var errFull = errors.New("full")

func (s *stack[T]) push(item T, force bool) (n int, err error) {
	if len(s.items) >= s.limit && !force {
		return 0, errFull
	}
	s.items = append(s.items, item)
	size := func() int {
		s.notify()
		return len(s.items)
	}
	switch {
	case size() > 9:
		s.notify()
	}
	return size(), err
}

func (s *stack[T]) notify() {}
