//go:build !linux

package client

import "os/exec"

// Only Linux ends a group with its parent; elsewhere the command alone ends at its deadline.

func ownGroup(*exec.Cmd) {}

func ownSession(*exec.Cmd) {}

func endGroup(cmd *exec.Cmd) error { return cmd.Process.Kill() }
