// Package loopback runs a program in a network namespace of its own, in which there is nothing but loopback. Whatever
// a client tries, it cannot leave the machine.
package loopback

import "errors"

// ErrNotPermitted is the error where a network namespace cannot be had: not on Linux, or not for this user.
var ErrNotPermitted = errors.New("own network namespace not permitted")
