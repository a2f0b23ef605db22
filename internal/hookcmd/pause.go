package hookcmd

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// killed is the error of a pause that a signal ended.
type killed struct{ sig syscall.Signal }

func (k killed) Error() string { return fmt.Sprintf("ended by signal %d", int(k.sig)) }

// exitCode is what a shell gives for a process that the signal ended.
func (k killed) exitCode() int { return 128 + int(k.sig) }

func asKilled(err error) (killed, bool) {
	var k killed
	return k, errors.As(err, &k)
}

// pause waits between two tries to put a snapshot in its place. The client may end the status line meanwhile; the
// temporary file must not stay behind then.
func pause(d time.Duration) error {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer signal.Stop(signals)
	select {
	case s := <-signals:
		if sig, ok := s.(syscall.Signal); ok {
			return killed{sig}
		}
		return killed{syscall.SIGTERM}
	case <-time.After(d):
		return nil
	}
}
