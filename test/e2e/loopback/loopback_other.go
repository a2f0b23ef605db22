//go:build !linux

package loopback

// Rerun always fails with ErrNotPermitted.
func Rerun(...string) (int, error) { return 0, ErrNotPermitted }

// Up does nothing: nobody can be inside.
func Up() error { return nil }

// ReadOnly always fails with ErrNotPermitted.
func ReadOnly(string) (func() error, error) { return nil, ErrNotPermitted }
