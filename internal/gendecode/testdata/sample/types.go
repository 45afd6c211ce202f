// Package sample has a field of every kind that the generator knows. The zz files are the
// output that the generator must produce: run "go run ../.." here after a change of the generator, and
// review the difference.
package sample

import (
	"encoding/json"
	"time"
)

type Color string

type Level int

type Level2 Level

type Percent float64

type Flag bool

// Nullable stands for the Nullable of package forge.
type Nullable[T any] struct{ value T }

// Day has its own decoder.
type Day struct{ y, m, d int }

func (d *Day) decodeFrom(r *Reader) bool { return true }

type Inner struct {
	ID    int64                      `json:"id,omitempty"`
	Extra map[string]json.RawMessage `json:"-"`
}

// Union may also be a string.
type Union struct {
	Name  string                     `json:"name"`
	Extra map[string]json.RawMessage `json:"-"`
}

func (u *Union) decodeOther(r *Reader) bool { return false }

// Secret has its own MarshalJSON.
type Secret struct {
	Token string                     `json:"token"`
	Extra map[string]json.RawMessage `json:"-"`
}

func (s Secret) MarshalJSON() ([]byte, error) { return nil, nil }

// Outer embeds a response type, and declares no Extra.
type Outer struct {
	Inner
	A, B string `json:"-"`
	Name string `json:"na/\"me"`
}

type All struct {
	Text    string                     `json:"text"`
	Color   Color                      `json:"color"`
	Int     int                        `json:"int"`
	Level   Level2                     `json:"level"`
	Percent Percent                    `json:"percent"`
	Float   float64                    `json:"float"`
	Bool    bool                       `json:"bool"`
	Flag    Flag                       `json:"flag"`
	Time    time.Time                  `json:"time"`
	Raw     json.RawMessage            `json:"raw"`
	Day     Day                        `json:"day"`
	Inner   Inner                      `json:"inner"`
	Outer   *Outer                     `json:"outer"`
	TextP   *string                    `json:"text_p"`
	ColorP  *Color                     `json:"color_p"`
	LevelP  *Level2                    `json:"level_p"`
	TimeP   *time.Time                 `json:"time_p"`
	DayP    *Day                       `json:"day_p"`
	BoolP   *bool                      `json:"bool_p"`
	TextN   Nullable[string]           `json:"text_n"`
	LevelN  Nullable[Level2]           `json:"level_n"`
	DayN    Nullable[Day]              `json:"day_n"`
	Unions  []Union                    `json:"unions"`
	Colors  []Color                    `json:"colors"`
	IDs     []int64                    `json:"ids"`
	Days    []Day                      `json:"days"`
	Bytes   []byte                     `json:"bytes"`
	Map     map[string]string          `json:"map"`
	Lists   [][]string                 `json:"lists"`
	Lists3  [][][]Inner                `json:"lists3"`
	ListMap map[string][]Color         `json:"list_map"`
	Inners  map[string]Inner           `json:"inners"`
	RawMap  map[string]json.RawMessage `json:"raw_map"`
	Raws    []json.RawMessage          `json:"raws"`
	Extra   map[string]json.RawMessage `json:"-"`
	NotOnIt int                        `json:"-"`
}

// ListOptions is not a response type: it has no Extra.
type ListOptions struct {
	Search string `url:"search"`
}

// UpdateOptions has an Extra of another type.
type UpdateOptions struct {
	Extra map[string]any `json:"-"`
}
