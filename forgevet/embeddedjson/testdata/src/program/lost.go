package program

import (
	"encoding/json"
	"time"

	forge "github.com/forge-sdk/forge-go"
)

type row struct { // want "^encoding/json ignores Fetched: the struct has MarshalJSON and UnmarshalJSON of the embedded forge.Issue; use a named field: Issue forge.Issue `json:\"issue\"`$"
	forge.Issue
	Fetched time.Time
}

type pointer struct { // want "ignores Fetched, N: .* of the embedded forge.MergeRequest; use a named field: MergeRequest \\*forge.MergeRequest `json:\"merge_request\"`$"
	*forge.MergeRequest
	Fetched time.Time
	hidden  int
	N       int `json:"n,omitempty"`
	Skipped int `json:"-"`
}

// Tags of the embedded field change nothing.
type tagged struct { // want "ignores Dash: .*use a named field: Issue forge.Issue `json:\"first\"`$"
	forge.Issue `json:"first"`
	Dash        string `json:"-,"`
}

type omitted struct { // want "ignores N"
	forge.Issue `json:"-"`
	N           int
}

type alias = forge.Issue

type throughAlias struct { // want "ignores N: the struct has MarshalJSON and UnmarshalJSON of the embedded forge.Issue"
	alias
	N int
}

type base struct{ forge.Issue }

type throughBase struct { // want "ignores N: .*the embedded forge.Issue; use a named field: Base \\*base `json:\"base\"`$"
	*base
	N int
}

// The fields of an embedded struct are lost, too.
type more struct{ N int }

type beside struct { // want "ignores more: "
	forge.Issue
	more
}

type State string

type besideOthers struct { // want "ignores State, ListIssuesOptions, unexported: "
	forge.Issue
	State
	forge.ListIssuesOptions
	unexported `json:"named"`
}

type unexported struct{ n int }

// Fetched is reported above, and N here.
type twice struct { // want "ignores N: "
	row
	N int
}

// MergeRequest is nearer than the Issue of row.
type nearer struct { // want "ignores row: .*the embedded forge.MergeRequest; "
	row
	forge.MergeRequest
}

type page[T any] struct { // want "ignores Items: "
	forge.Issue
	Items []T
}

type writes struct { // want "^encoding/json does not read N: the struct has UnmarshalJSON of the embedded forge.Issue; "
	forge.Issue
	N int
}

func (w writes) MarshalJSON() ([]byte, error) {
	type plain writes // want "^encoding/json does not write N: the struct has MarshalJSON of the embedded"
	return json.Marshal(plain(w))
}

type reads struct { // want "^encoding/json does not write N: the struct has MarshalJSON of the embedded forge.Issue; "
	forge.Issue
	N int
}

func (r *reads) UnmarshalJSON([]byte) error { return nil }

var _ = []struct { // want "ignores N: "
	forge.Issue
	N int
}{}

type aliasOfStruct = struct { // want "ignores N: "
	forge.Issue
	N int
}

type field struct {
	Inner struct { // want "ignores N: "
		forge.Issue
		N int
	}
}

func local() {
	type row struct { // want "ignores N: "
		forge.Issue
		N int
	}
	json.Marshal(row{})
}

// Go promotes no method of two types at the same depth.
type both struct { // want "^encoding/json ignores Extra, and keys that Issue and MergeRequest share: Go promotes MarshalJSON and UnmarshalJSON of one embedded type only; use named fields: Issue forge.Issue `json:\"issue\"`$"
	forge.Issue
	forge.MergeRequest
}

type withTime struct { // want "ignores Extra, and keys that Time and Issue share: .*use named fields: Issue forge.Issue"
	time.Time `json:"time"`
	forge.Issue
}

type bothDeeper struct { // want "ignores Extra, and keys that base and otherBase share: "
	base
	otherBase
}

type otherBase struct{ *forge.MergeRequest }

type bothAndBase struct { // want "ignores Extra, and keys that both and base share: .*use named fields: Base base "
	both
	base
}

// It has the methods of the embedded MergeRequest, and not those of MergeRequestChanges.
type changes forge.MergeRequestChanges // want "ignores Changes: .*the embedded forge.MergeRequest; "
