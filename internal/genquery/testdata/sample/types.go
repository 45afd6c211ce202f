// Package sample has a field of every kind that the generator knows. zz_query.go is the output that
// the generator must produce: run "go run ../.." here after a change of the generator, and review
// the difference.
package sample

import "time"

type Color string

type Filter interface{ useX() }

type (
	ID         int64
	Text       string
	Number     int64
	LabelNames struct{ text string }
	Hash       map[string]string
)

// Inner is sent inside of Not.
type Inner struct {
	Labels LabelNames `url:"labels,omitempty"`
	IIDs   []int64    `url:"iids,brackets,omitempty"`
	Weight *Number    `url:"weight,omitempty"`
	ID     ID         `url:"id,omitempty"`
	Title  Text       `url:"title,omitempty"`
}

// ListThingsOptions has rules.
type ListThingsOptions struct {
	Any       Filter    `url:"any,omitempty"`
	Word      string    `url:"word,omitempty"`
	Color     Color     `url:"color,omitempty"`
	Names     []string  `url:"names,omitempty"`
	Colors    []Color   `url:"colors,brackets,omitempty"`
	Yes       bool      `url:"yes,omitempty"`
	Flag      *bool     `url:"flag,omitempty"`
	Count     int       `url:"count,omitempty"`
	Project   int64     `url:"project_id,omitempty"`
	Custom    Hash      `url:"custom,omitempty"`
	Not       *Inner    `url:"not,omitempty"`
	After     time.Time `url:"after,omitempty"`
	Day       time.Time `url:"day,omitempty" layout:"2006-01-02"`
	Elsewhere string    `url:"-"`
	Other     string
}

func (o *ListThingsOptions) check() error { return nil }

// Options has no rules.
type PlainOptions struct {
	Word string `url:"word,omitempty"`
}

// Body is not sent in a query.
type Body struct {
	Word string `json:"word,omitempty"`
}
