//go:build unix

package statusline

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// become replaces this process by the renderer, with data as its standard input. It returns only on failure.
func become(path string, argv []string, data []byte) error {
	f, err := anonymousFile(data)
	if err != nil {
		return err
	}
	if err := redirect(int(f.Fd()), 0); err != nil {
		return err
	}
	env := os.Environ()
	err = syscall.Exec(path, argv, env)
	if errors.Is(err, syscall.ENOEXEC) {
		// A script without a #! line. The kernel refuses it, shells run it.
		err = syscall.Exec("/bin/sh", append([]string{"sh", path}, argv[1:]...), env)
	}
	return err
}

// execFailure tells what a failed exec means to a shell. final is false when nothing was wrong with the renderer
// itself, so that running it as a child is worth a try.
func execFailure(err error) (code int, why string, final bool) {
	switch {
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EISDIR):
		return notExecutable, "not executable", true
	case errors.Is(err, syscall.ENOENT):
		return notExecutable, "its interpreter is missing", true
	}
	return 0, "", false
}

func command(path string, argv []string) *exec.Cmd {
	cmd := &exec.Cmd{Path: path, Args: argv}
	if noShebang(path) {
		cmd.Path, cmd.Args = "/bin/sh", append([]string{"sh", path}, argv[1:]...)
	}
	return cmd
}

// noShebang tells whether the file is text that neither the kernel's script loader nor an ELF or Mach-O loader takes.
func noShebang(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 64)
	n, _ := f.Read(head)
	if n >= 2 && head[0] == '#' && head[1] == '!' {
		return false
	}
	for _, c := range head[:n] {
		if c < 0x20 && c != '\n' && c != '\t' && c != '\r' || c >= 0x7f {
			return false
		}
	}
	return n > 0
}

// exitCode is a process's exit code as a shell gives it: 128 and the signal for one that was killed.
func exitCode(state *os.ProcessState) int {
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return state.ExitCode()
}

// unlinkedFile is a file that only its descriptor leads to, where the system has no memory file.
func unlinkedFile(data []byte) (*os.File, error) {
	f, err := os.CreateTemp("", "plimsoll-*")
	if err != nil {
		return nil, err
	}
	_ = os.Remove(f.Name())
	return filled(f, data)
}

func filled(f *os.File, data []byte) (*os.File, error) {
	_, err := f.Write(data)
	if err == nil {
		_, err = f.Seek(0, 0)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
