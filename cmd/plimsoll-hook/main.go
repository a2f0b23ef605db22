// Command plimsoll-hook is what Claude Code calls on every event and for every status line: small, and nothing linked
// that those calls do not need.
package main

import (
	"os"
	"time"

	"plimsoll/internal/hookcmd"
)

func main() {
	os.Exit(hookcmd.Main(hookcmd.Process{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Env: os.LookupEnv, Now: time.Now,
	}))
}
