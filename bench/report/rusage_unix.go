//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// resident is the most memory that a process had resident, in bytes.
func resident(p *os.ProcessState) int64 {
	usage, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(usage.Maxrss)
	}
	return int64(usage.Maxrss) * 1024
}
