//go:build unix

package doctor

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// shell is how the client has a line read.
func shell(name, line string, _ []string) []string {
	switch name {
	case "bash":
		return []string{"bash", "-c", line}
	case "powershell":
		return []string{"pwsh", "-NoProfile", "-NonInteractive", "-Command", line}
	}
	return []string{"/bin/sh", "-c", line}
}

// find looks a name up in the PATH that the command gets, which settings may set. A path stays what it is.
func find(name string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	path := ""
	for _, variable := range env {
		if value, ok := strings.CutPrefix(variable, "PATH="); ok {
			path = value
		}
	}
	for _, dir := range filepath.SplitList(path) {
		if file := filepath.Join(dir, name); dir != "" && executable(file) {
			return file, nil
		}
	}
	return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
}

func executable(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// inGroup gives the command a process group of its own, so that it can be stopped with all its children.
func inGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func stopGroup(pid int) error { return syscall.Kill(-pid, syscall.SIGKILL) }

// exitCode is a process's exit code as a shell gives it: 128 and the signal for one that was killed.
func exitCode(state *os.ProcessState) int {
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return state.ExitCode()
}
