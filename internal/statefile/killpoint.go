//go:build !plimsoll_kill

package statefile

// killPoint stands before and after every step that another process could see half-done. It does nothing, except in
// test builds.
func killPoint() {}
