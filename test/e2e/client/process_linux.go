package client

import (
	"os/exec"
	"syscall"
)

// ownGroup makes the command the leader of a process group, which ends with it: at the command's deadline, and also
// when this process is killed before it could clean up.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return endGroup(cmd) }
}

// ownSession does the same with a terminal, which belongs to a session.
func ownSession(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return endGroup(cmd) }
}

// endGroup kills the command and what it started. It names one group, never a program.
func endGroup(cmd *exec.Cmd) error {
	return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
}
