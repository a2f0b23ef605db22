//go:build unix && !linux

package statusline

import (
	"os"
	"syscall"
)

func anonymousFile(data []byte) (*os.File, error) { return unlinkedFile(data) }

func redirect(from, to int) error { return syscall.Dup2(from, to) }
