//go:build race

package contractmodel

// peopleCases is how many cases of each list CI tries; the race detector makes them slow.
const peopleCases = 300
