//go:build race

package contractmodel

// trackerSlower divides the number of cases: each takes longer with the race detector.
const trackerSlower = 3
