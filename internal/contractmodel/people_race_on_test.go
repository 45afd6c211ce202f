//go:build race

package contractmodel

// peopleCases is the number of cases of each list in CI. The race detector makes them slow.
const peopleCases = 300
