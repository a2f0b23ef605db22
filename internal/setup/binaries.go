package setup

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// ErrTemporary reports a binary that `go run` built and will delete.
var ErrTemporary = errors.New("this is a temporary build of go run, which is gone in a moment")

// FindBinary returns the absolute path of one of our binaries: beside the running one, else on PATH. Where PATH leads to
// that very file, PATH's spelling is taken: it is the one that stays when a package manager moves the file behind it.
func FindBinary(name, executable string) (string, error) {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	onPath, pathErr := exec.LookPath(name)
	if pathErr == nil {
		onPath, pathErr = filepath.Abs(onPath)
	}
	beside := filepath.Join(filepath.Dir(executable), name)
	if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() && !temporary(beside) {
		if pathErr == nil && sameFile(onPath, beside) {
			return onPath, nil
		}
		return beside, nil
	}
	if pathErr != nil {
		if temporary(executable) {
			return "", fmt.Errorf("find %s: %w", name, ErrTemporary)
		}
		return "", fmt.Errorf("find %s: neither beside %s nor on PATH", name, executable)
	}
	if temporary(onPath) {
		return "", fmt.Errorf("find %s: %s: %w", name, onPath, ErrTemporary)
	}
	return onPath, nil
}

func sameFile(a, b string) bool {
	ia, errA := os.Stat(a)
	ib, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(ia, ib)
}

// temporary recognises the folders in which go run and go test build.
func temporary(path string) bool {
	for _, part := range strings.Split(filepath.ToSlash(path), "/") {
		if strings.HasPrefix(part, "go-build") {
			return true
		}
	}
	return false
}
