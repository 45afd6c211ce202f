//go:build !unix

package forge

// openNonblock has no effect here: files are never named pipes.
const openNonblock = 0
