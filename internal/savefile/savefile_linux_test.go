package savefile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// replaceDescriptor makes an open file use the descriptor of another one.
func replaceDescriptor(t *testing.T, file *os.File, other int) {
	t.Helper()
	raw, err := file.SyscallConn()
	require.NoError(t, err)
	require.NoError(t, raw.Control(func(fd uintptr) { err = syscall.Dup3(other, int(fd), 0) }))
	require.NoError(t, err)
	require.NoError(t, syscall.Close(other))
}

// Each step of a write fails in turn. The old file stays as it is, and the directory has no other
// entry.
func TestFailedSteps(t *testing.T) {
	const pathOnly = 0x200000 // O_PATH: the descriptor accepts no change of mode, and cannot be synced
	broken := errors.New("broken")
	for name, fail := range map[string]func(t *testing.T, file *os.File, target string) error{
		"write":      func(*testing.T, *os.File, string) error { return broken },
		"panic":      func(*testing.T, *os.File, string) error { panic("of the caller") },
		"closed":     func(_ *testing.T, file *os.File, _ string) error { return file.Close() },
		"incomplete": func(_ *testing.T, file *os.File, _ string) error { return errors.Join(file.Close(), broken) },
		"mode": func(t *testing.T, file *os.File, _ string) error {
			same, err := syscall.Open(file.Name(), pathOnly, 0)
			require.NoError(t, err)
			replaceDescriptor(t, file, same)
			return nil
		},
		"sync": func(t *testing.T, file *os.File, _ string) error {
			var pipe [2]int
			require.NoError(t, syscall.Pipe(pipe[:]))
			require.NoError(t, syscall.Close(pipe[1]))
			replaceDescriptor(t, file, pipe[0])
			return nil
		},
		"rename": func(t *testing.T, _ *os.File, target string) error {
			_ = os.Remove(target)
			return os.Mkdir(target, 0o700)
		},
		"removed": func(_ *testing.T, file *os.File, _ string) error { return os.Remove(file.Name()) },
	} {
		for _, private := range []bool{false, true} {
			for _, old := range []bool{false, true} {
				dir := t.TempDir()
				target := filepath.Join(dir, "file")
				if old {
					require.NoError(t, os.WriteFile(target, []byte("old"), 0o644))
				}
				var err error
				ended := make(chan any)
				go func() {
					returned := false
					defer func() { ended <- recover() != nil || !returned }()
					err = Write(target, private, func(w io.Writer) error {
						_, _ = io.WriteString(w, "new")
						return fail(t, w.(*os.File), target)
					})
					returned = true
				}()
				crashed := (<-ended).(bool)
				assert.Equal(t, name == "panic", crashed, name)
				assert.True(t, crashed || err != nil, "%s, private %t, old %t: no error", name, private, old)
				entries, err := os.ReadDir(dir)
				require.NoError(t, err)
				switch {
				case old || name == "rename":
					assertAlone(t, target)
				default:
					assert.Empty(t, entries, "%s, private %t", name, private)
				}
				if old && name != "rename" {
					assert.Equal(t, "old", read(t, target), name)
				}
			}
		}
	}
}
