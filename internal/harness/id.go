package harness

// ID is a session or agent id that is safe as a part of a file name. Only ParseID makes one, so a path can only be
// built from an id that was looked at.
type ID struct{ s string }

// ParseID accepts ids of A-Z, a-z, 0-9, _ and - alone. Anything else, an unexpanded ${CLAUDE_SESSION_ID} included,
// keeps no state and reads no file.
func ParseID(s string) (ID, bool) {
	for i := range len(s) {
		c := s[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-') {
			return ID{}, false
		}
	}
	return ID{s}, s != ""
}

// String returns the id; "" for the zero ID, which is none.
func (id ID) String() string { return id.s }
