package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"plimsoll/internal/harness"
	"plimsoll/internal/snapshot"
)

// Session is the session whose snapshot is looked at, and how it was found.
type Session struct {
	ID   string
	From string // FromArgument, FromEnvironment, FromNewest, FromPlaceholder or "" without a session
}

// Where a session's id came from.
const (
	FromArgument    = "argument"
	FromEnvironment = "CLAUDE_CODE_SESSION_ID"
	FromNewest      = "newest snapshot"
	FromPlaceholder = "newest snapshot, since ${CLAUDE_SESSION_ID} arrived unexpanded"
)

// Placeholder is what a skill passes on where the client does not fill the session id in.
const Placeholder = "${CLAUDE_SESSION_ID}"

// Own tells whether doctor runs inside the session it looks at: that session is awake, so its snapshot has to be fresh.
func (s Session) Own() bool { return s.From == FromEnvironment }

func findSession(in Input, store snapshot.Store) Session {
	own, _ := harness.ParseID(in.Env.Get("CLAUDE_CODE_SESSION_ID"))
	from := FromNewest
	switch in.Session {
	case "":
	case Placeholder:
		from = FromPlaceholder
	case own.String():
		return Session{in.Session, FromEnvironment}
	default:
		return Session{in.Session, FromArgument}
	}
	if own.String() != "" {
		return Session{own.String(), FromEnvironment}
	}
	if in.Env.Home() == "" {
		return Session{}
	}
	if id := newest(store); id != "" {
		return Session{id, from}
	}
	return Session{}
}

// newest is the session whose snapshot was written last.
func newest(store snapshot.Store) string {
	entries, _ := os.ReadDir(store.Dir())
	var id string
	var at time.Time
	for _, entry := range entries {
		name, ok := strings.CutSuffix(entry.Name(), ".json")
		if _, valid := harness.ParseID(name); !ok || !valid {
			continue
		}
		info, err := os.Stat(filepath.Join(store.Dir(), entry.Name()))
		if err == nil && info.Mode().IsRegular() && info.ModTime().After(at) {
			id, at = name, info.ModTime()
		}
	}
	return id
}
