//go:build !unix

package forge

// openNonblock has no meaning here: there are no named pipes among the files.
const openNonblock = 0
