package main

import (
	"bytes"
	"fmt"
)

// marshaler writes the methods MarshalJSON and UnmarshalJSON of one type, unless they are written
// by hand.
func (p *packageInfo) marshaler(out *bytes.Buffer, name string) error {
	if !p.methods[name]["MarshalJSON"] {
		fmt.Fprintf(out, "\n// MarshalJSON writes the fields that are not zero, and the entries of Extra.\n"+
			"func (v %s) MarshalJSON() ([]byte, error) { return marshalValue(v) }\n", name)
	}
	if !p.methods[name]["UnmarshalJSON"] {
		fmt.Fprintf(out, "\n// UnmarshalJSON replaces v with an object that is decoded like a response. null changes nothing.\n"+
			"func (v *%s) UnmarshalJSON(data []byte) error { return unmarshalValue(data, v) }\n", name)
	}
	return nil
}
