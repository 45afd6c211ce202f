//go:build !race

package contractmodel

// peopleCases is how many cases of each list CI tries.
const peopleCases = 1500
