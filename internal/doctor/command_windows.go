package doctor

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// shell is how the client has a line read: Git Bash where there is one, else PowerShell.
func shell(name, line string, env []string) []string {
	if bash := gitBash(env); name != "powershell" && bash != "" {
		return []string{bash, "-c", line}
	}
	return []string{"powershell", "-NoProfile", "-NonInteractive", "-Command", line}
}

func gitBash(env []string) string {
	for _, variable := range env {
		if path, ok := strings.CutPrefix(variable, "CLAUDE_CODE_GIT_BASH_PATH="); ok {
			return path
		}
	}
	const usual = `C:\Program Files\Git\bin\bash.exe`
	if _, err := os.Stat(usual); err == nil {
		return usual
	}
	if path, err := exec.LookPath("bash"); err == nil && !strings.Contains(strings.ToLower(path), `\system32\`) {
		return path // System32's bash is that of WSL, which is another machine
	}
	return ""
}

func find(name string, _ []string) (string, error) { return exec.LookPath(name) }

func inGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// stopGroup ends a process with all its children.
func stopGroup(pid int) error {
	return exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(pid)).Run()
}

func exitCode(state *os.ProcessState) int { return state.ExitCode() }
