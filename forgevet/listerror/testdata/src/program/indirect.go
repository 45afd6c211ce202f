package program

import (
	"context"
	"iter"
	"slices"

	forge "github.com/forge-sdk/forge-go"
)

type (
	issues = iter.Seq2[*forge.Issue, error]
	issue  = forge.Issue
	source func(yield func(issue, error) bool)
	lister interface{ list() issues }
	report struct{ issues issues }
	shared struct{ jobs iter.Seq2[*job, error] }
)

func open() issues { return nil }

// If the items have a type of package forge, the type decides.
func byType(list iter.Seq2[*forge.Issue, error], named issues, values source, l lister, r report) {
	for issue := range list { // want "the error of the list is dropped"
		use(issue)
	}
	for issue := range named { // want "the error of the list is dropped"
		use(issue)
	}
	for issue := range values { // want "the error of the list is dropped"
		use(issue)
	}
	for issue := range l.list() { // want "the error of the list is dropped"
		use(issue)
	}
	for issue := range r.issues { // want "the error of the list is dropped"
		use(issue)
	}
	for issue := range open() { // want "the error of the list is dropped"
		use(issue)
	}
	for issue := range func(yield func(*forge.Issue, error) bool) {} { // want "the error of the list is dropped"
		use(issue)
	}
}

// If a local variable has items of another type, its definition decides.
func byDefinition(ctx context.Context, client *forge.Client) {
	list := forge.ListAs[job](ctx, client, forge.Call{})
	for one := range list { // want "the error of the list is dropped"
		use(one)
	}
	var first, second = (forge.ListAs[job](ctx, client, forge.Call{})), jobs()
	_ = func() {
		for one := range first { // want "the error of the list is dropped"
			use(one)
		}
	}
	for one := range second {
		use(one)
	}
}

var global = forge.ListAs[job](context.Background(), nil, forge.Call{})

func jobs() iter.Seq2[*job, error] { return nil }

func two() (a, b iter.Seq2[*job, error]) { return nil, nil }

// These variables may have another value than the list.
func unknown(ctx context.Context, client *forge.Client, given iter.Seq2[*job, error], lists []iter.Seq2[*job, error], s shared) {
	again := forge.ListAs[job](ctx, client, forge.Call{})
	if len(lists) > 0 {
		again = lists[0]
	}
	for range again {
	}
	pointed := forge.ListAs[job](ctx, client, forge.Call{})
	set(&pointed)
	for range pointed {
	}
	ranged := forge.ListAs[job](ctx, client, forge.Call{})
	for _, ranged = range lists {
	}
	for range ranged {
	}
	keyed := forge.ListAs[job](ctx, client, forge.Call{})
	for keyed = range sequences() {
	}
	for range keyed {
	}
	a := forge.ListAs[job](ctx, client, forge.Call{})
	a, b := two()
	for range a {
	}
	for range b {
	}
	given = forge.ListAs[job](ctx, client, forge.Call{})
	for range given {
	}
	s.jobs = forge.ListAs[job](ctx, client, forge.Call{})
	for range s.jobs {
	}
	for range global {
	}
}

func set(*iter.Seq2[*job, error]) {}

func sequences() iter.Seq[iter.Seq2[*job, error]] { return nil }

// These are not lists of package forge.
func others[T any](items iter.Seq2[*T, error], all []*forge.Issue, texts iter.Seq2[*forge.Issue, string], one iter.Seq[*forge.Issue]) {
	for item := range items {
		use(item)
	}
	for one := range jobs() {
		use(one)
	}
	for i := range slices.All(all) {
		use(i)
	}
	for issue := range texts {
		use(issue)
	}
	for issue := range one {
		use(issue)
	}
	for i := range all {
		use(i)
	}
	for i := range 3 {
		use(i)
	}
	for range func(yield func() bool) {} {
	}
	for issue := range map[*forge.Issue]error{} {
		use(issue)
	}
}
