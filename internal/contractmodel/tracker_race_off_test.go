//go:build !race

package contractmodel

// trackerSlower is by how much fewer cases there are: with the race detector each takes longer.
const trackerSlower = 1
