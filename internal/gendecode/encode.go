package main

import (
	"bytes"
	"fmt"
	"strings"
)

// encoder writes the encoder of one type, and its methods MarshalJSON and UnmarshalJSON.
func (p *packageInfo) encoder(out *bytes.Buffer, name string) error {
	methods := p.methods[name]
	if !methods["UnmarshalJSON"] {
		fmt.Fprintf(out, "\n// UnmarshalJSON replaces v with the value in data, as a response is decoded; null changes nothing.\n"+
			"func (v *%s) UnmarshalJSON(data []byte) error {\nvar read %s\nok, err := unmarshalValue(data, &read)\nif ok {\n*v = read\n}\nreturn err\n}\n", name, name)
	}
	if methods["MarshalJSON"] { // no other type can have a field of this type
		return nil
	}
	fmt.Fprintf(out, "\n// MarshalJSON writes v without zero fields, and with the entries of Extra.\n"+
		"func (v %s) MarshalJSON() ([]byte, error) { return marshalValue(&v) }\n", name)
	var fields []field
	if err := p.collect(name, "v", &fields); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nfunc (v *%s) encodeTo(w *jsonwrite.Writer) {\n", name)
	if methods["encodeOther"] {
		out.WriteString("if v.encodeOther(w) {\nreturn\n}\n")
	}
	out.WriteString("outer := w.Open(v.Extra)\n")
	for _, f := range fields {
		if p.isResponse(f.typ) && p.methods[f.typ]["MarshalJSON"] {
			return fmt.Errorf("%s: the field %q has MarshalJSON, and no encoder", name, f.key)
		}
		out.WriteString(p.write(f) + "\n")
	}
	out.WriteString("closeObject(w, outer, v, v.Extra)\n}\n")
	return nil
}

// write returns the statement that writes a field unless it is zero.
func (p *packageInfo) write(f field) string {
	statement := func(zero, value string) string {
		return fmt.Sprintf("if w.Field(%q, %s) {\n%s\n}", f.key, zero, value)
	}
	switch inner, isMap := strings.CutPrefix(f.typ, mapOf); {
	case isMap:
		return statement(f.path+" == nil", fmt.Sprintf("jsonwrite.Map(%s, w, %s)", f.path, p.elementWriter(inner)))
	case strings.HasPrefix(f.typ, "*"):
		return statement(f.path+" == nil", call(p.writer(f.typ[1:]), f.path))
	case nullableOf(f.typ) != "":
		return statement(f.path+".IsZero()", fmt.Sprintf("value, set := %s.Get()\njsonwrite.Nullable(value, set, w, %s)", f.path, p.writer(nullableOf(f.typ))))
	case strings.HasPrefix(f.typ, "[]") && kinds[f.typ].function == "":
		return statement(f.path+" == nil", fmt.Sprintf("jsonwrite.Array(%s, w, %s)", f.path, p.elementWriter(f.typ[2:])))
	case p.isResponse(f.typ):
		return fmt.Sprintf("w.Struct(%q, %s.encodeTo)", f.key, f.path)
	}
	zero := f.path + ".IsZero()"
	switch p.underlying(f.typ) {
	case "string":
		zero = f.path + ` == ""`
	case "int", "int64", "float64":
		zero = f.path + " == 0"
	case "bool":
		zero = "!" + f.path
	case "[]byte":
		zero = f.path + " == nil"
	case "json.RawMessage":
		zero = "jsonwrite.IsNull(" + f.path + ")"
	}
	return statement(zero, call(p.writer(f.typ), "&"+f.path))
}

// call returns the statement that calls a writer.
func call(writer, value string) string {
	if strings.HasSuffix(writer, ").encodeTo") {
		return strings.TrimPrefix(value, "&") + ".encodeTo(w)"
	}
	function, _, _ := strings.Cut(writer, "[")
	return fmt.Sprintf("%s(%s, w)", function, value)
}

// elementWriter returns the function that writes an element of an array or a map.
func (p *packageInfo) elementWriter(typ string) string {
	if inner, isSlice := strings.CutPrefix(typ, "[]"); isSlice && kinds[typ].function == "" {
		return "jsonwrite.ArrayOf(" + p.elementWriter(inner) + ")"
	}
	return p.writer(typ)
}

// writer returns the function that writes a basic type or one with an encoder: those that reader
// returns, of the other package.
func (p *packageInfo) writer(typ string) string {
	if p.isDecoded(typ) {
		return "(*" + typ + ").encodeTo"
	}
	return strings.Replace(p.reader(typ), "jsonread.", "jsonwrite.", 1)
}
