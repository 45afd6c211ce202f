//go:build !race

package contractmodel

// peopleCases is the number of cases of each list in CI.
const peopleCases = 500
