package main

import "context"

// bare is the suffix of contenders that do the same work without what the row measures.
const bare = ", bare"

// counted returns do without its values, for rows whose contenders receive different documents.
func counted(do work) work {
	var own digest
	return func(ctx context.Context, d *digest) error {
		d.add("", "", 0, 0)
		return do(ctx, &own)
	}
}

// paired returns the median over the rounds of f, which receives the figures of two contenders in
// the same round; 0 if they had no turn.
func paired(taken map[string]median, name, other string, pick metric, f func(a, b float64) float64) float64 {
	values := make([]float64, len(taken[name]))
	for i, figure := range taken[name] {
		values[i] = f(pick(figure), pick(taken[other][i]))
	}
	return middle(values)
}

func minus(a, b float64) float64 { return a - b }

func over(a, b float64) float64 { return a / b }

// againstBare returns the line of each contender's figure compared with that of its bare form.
func againstBare(taken map[string]median, what string, pick metric, show unit, f func(a, b float64) float64) line {
	of := func(name string) float64 { return paired(taken, name, name+bare, pick, f) }
	return line{what: what, show: show, ours: of(forgeName), hand: of(handName), v2: of(v2Name), peer: of(peerName)}
}

// added returns the lines of what each contender's CPU time and allocations are above those of its
// bare form.
func added(taken map[string]median, what string) (time, count line) {
	time = againstBare(taken, "CPU "+what, cpu, showTime, minus)
	count = againstBare(taken, "allocations "+what, allocs, showCount, minus)
	count.exact = true
	return time, count
}
