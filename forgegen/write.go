package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// writePackage writes the files into a folder, and removes those that an earlier run left there. It
// changes nothing if the folder has a file that forgegen did not write.
func writePackage(folder string, files []file) error {
	old, err := generated(folder)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, f := range files {
		if err := writeFile(filepath.Join(folder, f.Name), f.Data); err != nil {
			return err
		}
	}
	for _, name := range old {
		if !slices.ContainsFunc(files, func(f file) bool { return f.Name == name }) {
			if err := os.Remove(filepath.Join(folder, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// generated returns the names of the files in a folder, all of which forgegen wrote. forgegen.yaml
// and tests of the generated code may be there, too.
func generated(folder string) (names []string, err error) {
	entries, err := os.ReadDir(folder)
	if os.IsNotExist(err) {
		return nil, nil
	}
	for _, entry := range entries {
		name := entry.Name()
		if name == configFile || strings.HasSuffix(name, "_test.go") {
			continue
		}
		if !entry.Type().IsRegular() || !hasMarker(filepath.Join(folder, name)) {
			return nil, fmt.Errorf("%s has %s, which forgegen did not write: choose another folder with -o, or move the file", folder, name)
		}
		names = append(names, name)
	}
	return names, err
}

func hasMarker(name string) bool {
	data, err := os.ReadFile(name)
	return err == nil && bytes.HasPrefix(data, []byte(marker))
}

// writeFile replaces a file: another process sees the old content or the new, and no part of it.
func writeFile(name string, data []byte) error {
	temp, err := os.CreateTemp(filepath.Dir(name), ".forgegen-*")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	_, err = temp.Write(data)
	if closeErr := temp.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Chmod(temp.Name(), 0o644)
	}
	if err == nil {
		err = os.Rename(temp.Name(), name)
	}
	return err
}
