// Package generated tests generated code against forgetest, with the faults of the fault matrix: a
// create takes effect at most once, and a list or a file is complete, or there is an error.
package generated
