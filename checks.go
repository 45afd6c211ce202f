package forge

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strconv"
)

// The rules that options share. Each names the wire name of the parameter; nameOption adds the Go name of its field.

// firstError gives the first error of several rules, nil when all are kept.
func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// required refuses options without a parameter that the endpoint cannot do without.
func required(param string, set bool) error {
	if set {
		return nil
	}
	return &ValidationError{Param: param, Reason: "it is required"}
}

// exclusive refuses two parameters of which the endpoint takes one.
func exclusive(param string, set bool, other string, otherSet bool) error {
	if !set || !otherSet {
		return nil
	}
	return &ValidationError{Param: param, Reason: "it cannot be combined with " + other}
}

// isTrue reports whether an optional boolean is set to true.
func isTrue(value *bool) bool { return value != nil && *value }

// needs refuses a parameter that means nothing without another.
func needs(param string, set bool, other string, otherSet bool) error {
	if !set || otherSet {
		return nil
	}
	return &ValidationError{Param: param, Reason: "it needs " + other + " as well"}
}

// replaced refuses a deprecated parameter beside the one that has replaced it.
func replaced(param string, set bool, use string, useSet bool) error {
	if !set || !useSet {
		return nil
	}
	return &ValidationError{Param: param, Reason: "it is deprecated, and " + use + " is given too: leave " + param + " out"}
}

// atMost refuses more than the endpoint takes.
func atMost(param string, n, most int, unit string) error {
	if n <= most {
		return nil
	}
	return &ValidationError{Param: param, Reason: "it has " + strconv.Itoa(n) + " " + unit + "; " + strconv.Itoa(most) + " is the most"}
}

// isRE2 refuses a pattern that the server would; Go's syntax is the server's.
func isRE2(param, pattern string) error {
	_, err := regexp.Compile(pattern)
	if err == nil {
		return nil
	}
	reason := err.Error()
	if bad := (*syntax.Error)(nil); errors.As(err, &bad) { // its text repeats what kind of error it is
		reason = bad.Code.String() + ": `" + bad.Expr + "`"
	}
	return &ValidationError{Param: param, Reason: "it is no RE2 pattern: " + reason}
}
