package registration

// Timeout is how long the client waits for a hook, in seconds. Ours stops waiting for its input after five and works for
// a few milliseconds, so a client that waits longer waits for nothing; one that gives up lets the call pass. The client's
// own limits, 30 s for a prompt and 600 s for a tool, would let a stalled file system hold a session up.
const Timeout = 10

// Group is an entry of a hooks list as the client reads it, its keys in the order in which they are written.
type Group struct {
	Matcher string    `json:"matcher,omitempty"`
	Hooks   []Handler `json:"hooks"`
}

// Handler is one command of a group. With Args the client starts Command itself; without, a shell does.
type Handler struct {
	Type    string   `json:"type"`
	Command string   `json:"command"`
	Args    []string `json:"args,omitempty"`
	If      string   `json:"if,omitempty"`
	Timeout int      `json:"timeout"`
}

// Group makes the entry run a command: once, or once for each of its permission rules.
func (e Entry) Group(command string, args ...string) Group {
	g := Group{Matcher: e.Matcher}
	conditions := e.If
	if len(conditions) == 0 {
		conditions = []string{""}
	}
	for _, condition := range conditions {
		g.Hooks = append(g.Hooks, Handler{Type: "command", Command: command, Args: args, If: condition, Timeout: Timeout})
	}
	return g
}

// Hooks is the whole table as a value for hooks: by event, each with its groups in the table's order.
func Hooks(entries []Entry, command string, args ...string) map[string][]Group {
	hooks := map[string][]Group{}
	for _, e := range entries {
		hooks[e.Event] = append(hooks[e.Event], e.Group(command, args...))
	}
	return hooks
}
