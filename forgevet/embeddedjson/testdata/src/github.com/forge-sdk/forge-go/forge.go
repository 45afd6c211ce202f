// Package forge has the types of the real package that the tests need, with their methods for JSON.
package forge

import "encoding/json"

type Issue struct {
	ID    int64                      `json:"id"`
	Extra map[string]json.RawMessage `json:"-"`
}

func (v Issue) MarshalJSON() ([]byte, error) { return nil, nil }

func (v *Issue) UnmarshalJSON([]byte) error { return nil }

type MergeRequest struct {
	ID    int64                      `json:"id"`
	Extra map[string]json.RawMessage `json:"-"`
}

func (v MergeRequest) MarshalJSON() ([]byte, error) { return nil, nil }

func (v *MergeRequest) UnmarshalJSON([]byte) error { return nil }

// RegistryTagDetail has its own methods in the real package. It does not here, to show that the
// package itself is not checked.
type RegistryTagDetail struct {
	Issue
	Digest string `json:"digest"`
}

type MergeRequestChanges struct {
	MergeRequest
	Changes []string `json:"changes"`
}

func (v MergeRequestChanges) MarshalJSON() ([]byte, error) { return nil, nil }

func (v *MergeRequestChanges) UnmarshalJSON([]byte) error { return nil }

// ListIssuesOptions has no methods.
type ListIssuesOptions struct {
	Search string `json:"search"`
}
