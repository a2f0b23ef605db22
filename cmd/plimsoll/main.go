// Command plimsoll is the whole tool.
package main

import (
	"os"
	"time"

	"plimsoll/internal/cli"
)

func main() {
	os.Exit(cli.Main(cli.Process{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Env: os.LookupEnv, Now: time.Now,
	}))
}
