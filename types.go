package forge

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-querystring/query"

	"github.com/forge-sdk/forge-go/internal/jsonread"
	"github.com/forge-sdk/forge-go/internal/safetext"
)

// Arg is an argument of a Call: an ID, a Path, any Ref, or a Text for everything else, such as the
// name of a branch.
type Arg interface{ useIDOrPathOrText() }

func (ID) useIDOrPathOrText()   {}
func (Path) useIDOrPathOrText() {}
func (Text) useIDOrPathOrText() {}

// Ref names a project, a group or a namespace: forge.ID(42) or forge.Path("group/app"). Its method
// returns the text of the path segment; its name is in the compiler's message for other values.
type Ref interface {
	Arg
	useIDOrPath() (string, error)
}

// ID is an instance-wide id. As a Ref it must be positive; as a filter it selects that id.
type ID int64

// Path is the full path of a project, group or namespace, unescaped: "group/subgroup/app". The
// client escapes it, and rejects one that is already escaped: "group%2Fapp". A server reads a Path
// that consists of digits as an id.
type Path string

func (id ID) useIDOrPath() (string, error) {
	if id <= 0 {
		return "", fmt.Errorf("id %d is not positive", int64(id))
	}
	return strconv.FormatInt(int64(id), 10), nil
}

func (p Path) useIDOrPath() (string, error) { return string(p), nil }

// Date is a calendar day without a time zone. The zero Date is null in JSON, and is not sent in a
// query. If a server sends a timestamp, the Date is its day as written, not converted to another
// zone; the timestamp itself is in Extra.
type Date struct {
	// Year is the year, 1 to 9999.
	Year int
	// Month is the month.
	Month time.Month
	// Day is the day of the month, from 1.
	Day int
}

// dateOf returns the day of t in t's own time zone.
func dateOf(t time.Time) Date {
	year, month, day := t.Date()
	return Date{year, month, day}
}

// ParseDate reads YYYY-MM-DD.
func ParseDate(s string) (Date, error) {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return Date{}, fmt.Errorf("forge: %q is not a date of the form YYYY-MM-DD", safetext.Clean(s, 64))
	}
	return dateOf(t), nil
}

// IsZero reports whether the date is the zero Date.
func (d Date) IsZero() bool { return d == Date{} }

// String returns the date as YYYY-MM-DD, and the zero Date as the empty string.
func (d Date) String() string {
	if d.IsZero() {
		return ""
	}
	return fmt.Sprintf("%04d-%02d-%02d", d.Year, int(d.Month), d.Day)
}

// In returns midnight of the date in loc; nil is UTC.
func (d Date) In(loc *time.Location) time.Time {
	if loc == nil {
		loc = time.UTC
	}
	return time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, loc)
}

// Before reports whether d is an earlier day than other.
func (d Date) Before(other Date) bool { return d.In(time.UTC).Before(other.In(time.UTC)) }

// check returns an error for a date that is not on the calendar, such as 31 February.
func (d Date) check() error {
	switch {
	case d.Year < 0 || d.Year > 9999:
		return fmt.Errorf("forge: %s is not a date of the years 0 to 9999", d)
	case dateOf(d.In(nil)) != d:
		return fmt.Errorf("forge: %s is not a date of the calendar", d)
	}
	return nil
}

// MarshalJSON writes the date as a string, the zero Date as null. A Date that is not a day of the
// calendar is an error.
func (d Date) MarshalJSON() ([]byte, error) {
	if d.IsZero() {
		return []byte("null"), nil
	}
	if err := d.check(); err != nil {
		return nil, err
	}
	return []byte(`"` + d.String() + `"`), nil
}

// UnmarshalJSON reads a string YYYY-MM-DD; null and "" are the zero Date.
func (d *Date) UnmarshalJSON(data []byte) error {
	var s *string
	if err := readJSON(data, &s); err != nil {
		return err
	}
	if s == nil || *s == "" {
		*d = Date{}
		return nil
	}
	parsed, err := ParseDate(*s)
	if err == nil {
		*d = parsed
	}
	return err
}

// EncodeValues writes the date into a query. A Date that is not a date of the calendar is an error.
func (d Date) EncodeValues(key string, v *url.Values) error {
	if err := d.check(); err != nil {
		return &ValidationError{Param: key, Reason: strings.TrimPrefix(err.Error(), "forge: ")}
	}
	v.Set(key, d.String())
	return nil
}

// Label is a label of an issue or merge request. A server sends only names, unless
// WithLabelsDetails requests the details. Both forms are read.
type Label struct {
	// Name is the label's title.
	Name string `json:"name"`
	// Color is the colour of the background, as #rrggbb; with details only.
	Color string `json:"color"`
	// Description is plain text; with details only.
	Description string `json:"description"`
	// DescriptionHTML is the description as HTML; with details only.
	DescriptionHTML string `json:"description_html"`
	// TextColor is the colour of the text, as #rrggbb; with details only.
	TextColor string `json:"text_color"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}

// String returns the label's name.
func (l Label) String() string { return l.Name }

// Nullable is a value that can be set, set to null, or not sent (the zero Nullable).
type Nullable[T any] struct {
	value T
	state nullState
}

type nullState uint8

const (
	nullUnset nullState = iota
	nullNull
	nullValue
)

// Value returns a Nullable that is sent as v.
func Value[T any](v T) Nullable[T] { return Nullable[T]{value: v, state: nullValue} }

// Null returns a Nullable that is sent as null.
func Null[T any]() Nullable[T] { return Nullable[T]{state: nullNull} }

// Get returns the value. The boolean is false if the value is null or not set.
func (n Nullable[T]) Get() (T, bool) { return n.value, n.state == nullValue }

// IsNull reports whether the value is null.
func (n Nullable[T]) IsNull() bool { return n.state == nullNull }

// IsZero reports whether nothing is sent; tags use omitzero.
func (n Nullable[T]) IsZero() bool { return n.state == nullUnset }

// MarshalJSON writes the value, or null.
func (n Nullable[T]) MarshalJSON() ([]byte, error) {
	if n.state != nullValue {
		return []byte("null"), nil
	}
	return json.Marshal(n.value)
}

// UnmarshalJSON reads the value, or null.
func (n *Nullable[T]) UnmarshalJSON(data []byte) error {
	if strings.TrimSpace(string(data)) == "null" {
		*n = Null[T]()
		return nil
	}
	var v T
	if err := readJSON(data, &v); err != nil {
		return err
	}
	*n = Value(v)
	return nil
}

// readJSON is json.Unmarshal for types that decode themselves. Its error is never a
// *json.UnmarshalTypeError, which would mean that the rest was read: encoding/json stops at the
// errors of such types.
func readJSON(data []byte, v any) error {
	if err := json.Unmarshal(data, v); err != nil {
		return errors.New("forge: " + strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

var _ query.Encoder = Date{}

// decodeOther reads a bare name.
func (l *Label) decodeOther(r *jsonread.Reader) bool {
	return r.Kind() == "string" && jsonread.Text(&l.Name, r)
}

// otherForm returns the name of a label that has nothing else.
func (l Label) otherForm() (any, bool) {
	return l.Name, l.Color == "" && l.Description == "" && l.DescriptionHTML == "" && l.TextColor == "" && len(l.Extra) == 0
}
