package program

import (
	"encoding/json"
	"math/big"
	"sync"
	"time"

	forge "github.com/forge-sdk/forge-go"
)

type namedField struct {
	Issue   forge.Issue `json:"issue"`
	Fetched time.Time
}

// Nothing that encoding/json writes is next to the issue.
type alone struct {
	*forge.Issue
	sync.Mutex
	note
	fetched time.Time
	Skipped int `json:"-"`
	again   *alone
}

type note struct {
	text string
	*note
}

type withMethods struct {
	forge.Issue
	N int
}

func (withMethods) MarshalJSON() ([]byte, error) { return nil, nil }

func (*withMethods) UnmarshalJSON([]byte) error { return nil }

// The methods are those of withMethods.
type embedsMethods struct {
	withMethods
	N int
}

// The field is reported where it is declared.
type again row

type againAlone struct {
	again
	hidden int
}

// A type that is declared with a response type has none of its methods.
type plainIssue forge.Issue

type withPlain struct {
	plainIssue
	N int
}

type options struct {
	forge.ListIssuesOptions
	N int
}

// Names in JSON make both types fields of the object.
type bothNamed struct {
	forge.Issue        `json:"issue"`
	forge.MergeRequest `json:"merge_request"`
	N                  int
}

// No type of package forge loses its Extra here.
type foreign struct {
	time.Time
	big.Int
}

type embedsForeign struct {
	foreign
	forge.Issue `json:"issue"`
}

// Its type is reported where it is declared.
type embedsBoth struct {
	both
	N int
}

// encoding/json does not use a field of this name.
type fieldOfThisName struct {
	forge.Issue
	MarshalJSON   json.RawMessage `json:"-"`
	UnmarshalJSON json.RawMessage `json:"-"`
	N             int
}

// listed is read by ListAs only.
//
//forgevet:ignore
type listed struct {
	forge.Issue
	Fetched string
}
