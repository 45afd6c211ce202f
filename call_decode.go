package forge

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/forge-sdk/forge-go/internal/jsonread"
	"github.com/forge-sdk/forge-go/internal/safetext"
)

// decode decodes the response into out, and frees its buffer.
func (s *callState) decode(out any) ([]Mismatch, error) {
	mismatches, err := s.decodeWith(func(r *jsonread.Reader) error { return decodeValue(r, out) })
	if err != nil {
		return mismatches, err
	}
	countLargeBlob(s.call, out)
	return mismatches, nil
}

// decodeWith runs a decoder over the response, and frees its buffer. Its error is an *Error.
func (s *callState) decodeWith(decode func(*jsonread.Reader) error) (mismatches []Mismatch, err error) {
	defer s.buffers.put(s.buffer)
	data := s.buffer.Bytes()
	if reason := refuseBody(s, data); reason != "" {
		return nil, s.badResponse(reason, nil)
	}
	if s.request.settings {
		if data, err = s.core().config.vocabulary.translateSettings(data); err != nil {
			return nil, s.badResponse(err.Error(), nil)
		}
	}
	r := &s.buffer.reader
	defer r.Reset(nil)
	r.Strict, r.Limit = s.core().config.strict, decodedFactor*min(max(s.options.limits.json, defaultLimits.json), 1<<40)
	if r.Foreign = nil; s.request.custom {
		r.Foreign = unmarshalForeign
	}
	redact := s.redactor(s.token)
	if r.Watch = nil; s.core().config.drift != nil { // the method value is an allocation
		r.Watch = s.core().config.drift.watch(s.request.route, redact.safeText)
	}
	r.Reset(data)
	err = decode(r)
	for _, m := range r.Mismatches() {
		if m.Pointer == "" && err == nil {
			return mismatches, s.badResponse("the response is a JSON "+m.Got+otherType(s.call, m), nil)
		}
		m.Pointer = redact.redact(m.Pointer) // keys of maps are data
		mismatches = append(mismatches, Mismatch(m))
	}
	if err != nil {
		return mismatches, decodeError(s, err, len(data))
	}
	return mismatches, nil
}

// refuseBody returns why a body has no value that can be decoded; "" if it has one.
func refuseBody(s *callState, data []byte) string {
	value := bytes.TrimSpace(data)
	switch {
	case len(value) == 0 && s.request.custom:
		return "the call succeeded and there is no body to decode: pass nil for out"
	case len(value) == 0:
		return "the response has no body"
	case len(data)-len(value) > maxWhitespace:
		return "the response has more than 4 KiB of white space around its value"
	case string(value) == "null":
		return "the response is null"
	}
	return ""
}

// otherType ends the error for a response of another type: Do and ListAs have the caller's type.
func otherType(c *call, m jsonread.Mismatch) string {
	switch {
	case !c.request.custom:
		return ", which is not what this endpoint returns"
	case c.options.kind == kindList:
		return ", and ListAs reads arrays: use Do"
	case m.Got == "array":
		return ", and out is of type " + m.Want + ": use ListAs, or a slice"
	case m.Got == "object":
		return ", and out is of type " + m.Want + ": pass a pointer to a struct or a map"
	}
	return ", and out is of type " + m.Want
}

// decodeError returns the error for a response that cannot be decoded.
func decodeError(s *callState, err error, size int) error {
	var syntax *jsonread.SyntaxError
	var strict *jsonread.StrictError
	var large *jsonread.LimitError
	var misfit *misfitError
	switch {
	case errors.As(err, &misfit):
		return s.badResponse("the response does not fit your type: "+misfit.Error(), err)
	case errors.As(err, &large):
		return s.failAfterSuccess(&sentinelError{sentinel: ErrResponseTooLarge, text: "the response has too many items: " + large.Error()})
	case errors.As(err, &syntax):
		return s.badResponse(fmt.Sprintf("the response is not valid JSON: %s of %d", syntax, size), nil)
	case errors.As(err, &strict):
		return s.badResponse("strict decoding: "+s.redactor(s.token).safeText(strict.Error(), 512), nil)
	}
	return s.badResponse("the response cannot be decoded: "+safetext.Clean(err.Error(), 512), err)
}

func (s *callState) badResponse(text string, cause error) error {
	return s.failAfterSuccess(&sentinelError{ErrInvalidResponse, text, cause})
}

// failAfterSuccess returns the error for a successful response that cannot be used.
func (s *callState) failAfterSuccess(err error) error {
	failed := *s
	failed.result, failed.maybeApplied = s.failed(err), true
	return failed.newError()
}

// fillInto fills the caller's Response. A list does so itself, when the caller reaches the page.
func (s *callState) fillInto(mismatches []Mismatch) {
	if s.options.into != nil && s.resp != nil {
		*s.options.into = newResponse(s.resp, s.attempts, mismatches)
	}
}

// download returns the Download of a successful call.
func (s *callState) download() *Download {
	redact := s.redactor(s.token)
	failed := *s // for the error of a body that ends early
	failed.maybeApplied = s.maybeApplied || s.status < 400
	return &Download{
		Name:        redact.redact(fileName(s.header)), // fileName may join the parts of a parameter
		Size:        s.resp.ContentLength,
		ContentType: redact.safeText(mediaType(contentType(s.header)), 256),
		source:      s.options.checksum.verified(s.request.checksum.verified(s.stream)),
		private:     s.route().secret,
		failure:     failed.newError(),
	}
}
