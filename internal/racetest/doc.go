// Package racetest reports whether the race detector is on, which slows tests and allocates.
package racetest
