package statusline

import (
	"errors"
	"os"
	"os/exec"
)

// become cannot be had on Windows: a process cannot turn into another.
func become(string, []string, []byte) error { return errors.ErrUnsupported }

func execFailure(error) (code int, why string, final bool) { return 0, "", false }

func command(path string, argv []string) *exec.Cmd { return &exec.Cmd{Path: path, Args: argv} }

func exitCode(state *os.ProcessState) int { return state.ExitCode() }
