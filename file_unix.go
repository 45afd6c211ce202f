//go:build unix

package forge

import "syscall"

// openNonblock keeps a named pipe from blocking when it is opened. Regular files ignore it.
const openNonblock = syscall.O_NONBLOCK
