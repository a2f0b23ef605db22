package statusline

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"plimsoll/internal/stdin"
)

// The exit codes of a command that cannot be run, as every shell gives them.
const (
	notExecutable = 126
	notFound      = 127
)

// Render runs the renderer with the payload as its standard input and returns its exit code. Where the system allows
// and the input is complete the renderer takes this process's place and Render does not return.
func Render(argv []string, in *stdin.Input, stdout, stderr io.Writer) int {
	path, code, err := lookUp(argv[0])
	if err != nil {
		fmt.Fprintf(stderr, "plimsoll: %s: %v\n", argv[0], err)
		return code
	}
	if in.Complete {
		// It comes back only to say that there is no way to become the renderer; a child does as well.
		err := become(path, argv, in.Data)
		if code, why, final := execFailure(err); final {
			fmt.Fprintf(stderr, "plimsoll: %s: %s\n", argv[0], why)
			return code
		}
	}
	return child(path, argv, in, stdout, stderr)
}

// lookUp finds a command as a shell does: a name with a separator is a path, any other is searched in PATH.
func lookUp(name string) (path string, code int, err error) {
	path, err = exec.LookPath(name)
	switch {
	case err == nil || errors.Is(err, exec.ErrDot):
		// A shell runs what a relative PATH entry finds, and the renderer is the operator's own command.
		return path, 0, nil
	case errors.Is(err, fs.ErrPermission) || isFile(name):
		return "", notExecutable, errors.New("not executable")
	}
	return "", notFound, errors.New("command not found")
}

// isFile tells whether PATH or the path itself has a file of that name, executable or not.
func isFile(name string) bool {
	dirs := []string{""}
	if !strings.ContainsRune(name, filepath.Separator) {
		dirs = filepath.SplitList(os.Getenv("PATH"))
	}
	for _, dir := range dirs {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

// child runs the renderer beside us: what arrived goes to it at once, the rest as it comes.
func child(path string, argv []string, in *stdin.Input, stdout, stderr io.Writer) int {
	cmd := command(path, argv)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	pipe, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fmt.Fprintf(stderr, "plimsoll: %s: %v\n", argv[0], err)
		return notExecutable
	}
	go func() {
		defer func() { _ = recover() }()
		// A renderer that does not read is none of our business.
		_, _ = in.WriteTo(pipe)
		_ = pipe.Close()
	}()
	_ = cmd.Wait()
	return exitCode(cmd.ProcessState)
}
