package loopback

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// Rerun runs this program once more, with the same arguments and the environment added to, where there is only
// loopback, and returns its exit code. Inside, call Up before anything else.
func Rerun(env ...string) (int, error) {
	exe, err := os.Executable()
	if err != nil {
		return 0, fmt.Errorf("rerun in a network namespace: %w", err)
	}
	cmd := exec.Command(exe, os.Args[1:]...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS,
		Pdeathsig:  syscall.SIGKILL,
	}
	if uid, gid := os.Getuid(), os.Getgid(); uid != 0 {
		// Only root may make a network namespace, so become root of a user namespace first.
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: uid, Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: gid, Size: 1}}
	}
	// The child dies with the thread that started it, so the thread has to stay.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrNotPermitted, err)
	}
	if err, exit := cmd.Wait(), (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return 0, fmt.Errorf("rerun in a network namespace: %w", err)
	}
	code := cmd.ProcessState.ExitCode()
	if code < 0 {
		// Ended by a signal.
		code = 1
	}
	return code, nil
}

// Up switches loopback on, which is off in a new namespace, and cuts this namespace's mounts off from the machine's.
func Up() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("switch loopback on: %w", err)
	}
	defer unix.Close(fd)
	req, err := unix.NewIfreq("lo")
	if err != nil {
		return fmt.Errorf("switch loopback on: %w", err)
	}
	req.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, req); err != nil {
		return fmt.Errorf("switch loopback on: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	return nil
}

// ReadOnly makes a folder read-only, also for root, who does not mind permission bits, and returns what undoes it. It is
// for use inside, after Up; elsewhere the mount would be the machine's.
func ReadOnly(dir string) (undo func() error, err error) {
	if err := unix.Mount(dir, dir, "", unix.MS_BIND, ""); err != nil {
		return nil, fmt.Errorf("make %s read-only: %w", dir, err)
	}
	undo = func() error {
		// Detached, because a process that is just ending may still have a file open.
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			return fmt.Errorf("make %s writable again: %w", dir, err)
		}
		return nil
	}
	if err := unix.Mount("", dir, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		return nil, errors.Join(fmt.Errorf("make %s read-only: %w", dir, err), undo())
	}
	return undo, nil
}
