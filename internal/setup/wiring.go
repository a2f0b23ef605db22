package setup

import (
	"path/filepath"
	"strings"

	"plimsoll/internal/config"
	"plimsoll/internal/rawjson"
	"plimsoll/internal/registration"
	"plimsoll/internal/settings/edit"
)

// groupOf makes a registration run our hook. A path that needs no quoting is started without a shell; clients that do not
// know args run the command alone, which answers hooks as well.
func groupOf(hook string, r registration.Entry) registration.Group {
	command := shellWord(hook)
	if command == hook {
		return r.Group(command, "hook")
	}
	return r.Group(command)
}

// wireHooks brings our entries into the file and changes nothing when they are there already.
func wireHooks(data []byte, hook string, kb config.KB) ([]byte, error) {
	if err := checkHooks(data); err != nil {
		return nil, err
	}
	wanted := map[string][]registration.Group{}
	var events []string
	for _, r := range registration.Table(kb) {
		if _, ok := wanted[r.Event]; !ok {
			events = append(events, r.Event)
		}
		wanted[r.Event] = append(wanted[r.Event], groupOf(hook, r))
	}
	d, err := edit.Parse(data)
	if err != nil {
		return nil, err
	}
	if upToDate(d, wanted) {
		return data, nil
	}
	if data, err = unwireHooks(data); err != nil {
		return nil, err
	}
	for _, event := range events {
		for _, g := range wanted[event] {
			if data, err = edit.Append(data, g, "hooks", event); err != nil {
				return nil, err
			}
		}
	}
	return data, nil
}

// checkHooks refuses a file whose hooks are not of the shape that the client reads.
func checkHooks(data []byte) error {
	d, err := edit.Parse(data)
	if err != nil {
		return err
	}
	if err := d.CheckUnique(nil, "hooks", "statusLine"); err != nil {
		return err
	}
	if err := d.CheckUnique([]string{"hooks"}); err != nil {
		return err
	}
	hooks := d.Value("hooks")
	if hooks == nil {
		return nil
	}
	if hooks.Kind() != rawjson.Object {
		return d.Refuse([]string{"hooks"}, "hooks is no object")
	}
	for event, list := range hooks.Members() {
		if list.Kind() != rawjson.Array {
			return d.Refuse([]string{"hooks", event}, "hooks.%s is no list", event)
		}
	}
	return nil
}

// upToDate tells whether the file's entries of ours are exactly the wanted ones, in their order.
func upToDate(d *edit.Doc, wanted map[string][]registration.Group) bool {
	total := 0
	for event, list := range d.Value("hooks").Members() {
		var ours []rawjson.Value
		for g := range list.Elements() {
			if n, _ := ourHandlers(g); n > 0 {
				ours = append(ours, g)
			}
		}
		if len(ours) != len(wanted[event]) {
			return false
		}
		for i, g := range ours {
			if !edit.Same(g, wanted[event][i]) {
				return false
			}
		}
		total += len(ours)
	}
	want := 0
	for _, g := range wanted {
		want += len(g)
	}
	return total == want
}

// unwireHooks takes our handlers out of the file: whole entries that are ours alone, single handlers out of mixed
// ones. What it leaves empty goes too.
func unwireHooks(data []byte) ([]byte, error) {
	d, err := edit.Parse(data)
	if err != nil {
		return nil, err
	}
	for event, list := range d.Value("hooks").Members() {
		had := false
		i := 0
		for g := range list.Elements() {
			ours, all := ourHandlers(g)
			if ours > 0 && ours < all {
				if data, err = edit.RemoveElementsIn(data, isOurs, i, "hooks", "hooks", event); err != nil {
					return nil, err
				}
			}
			had = had || ours > 0
			i++
		}
		if !had {
			continue
		}
		if data, err = edit.RemoveElements(data, func(g rawjson.Value) bool {
			ours, all := ourHandlers(g)
			return ours > 0 && ours == all
		}, "hooks", event); err != nil {
			return nil, err
		}
		if data, err = removeEmpty(data, "hooks", event); err != nil {
			return nil, err
		}
	}
	return removeEmpty(data, "hooks")
}

// removeEmpty takes a member away when our own removal left it an empty container.
func removeEmpty(data []byte, path ...string) ([]byte, error) {
	d, err := edit.Parse(data)
	if err != nil {
		return nil, err
	}
	switch string(d.Value(path...).AppendCompact(nil)) {
	case "[]", "{}":
		return edit.Remove(data, path...)
	}
	return data, nil
}

// ourHandlers counts the handlers of an entry that run our binary, and all of them.
func ourHandlers(g rawjson.Value) (ours, all int) {
	for h := range g.Get("hooks").Elements() {
		all++
		if isOurs(h) {
			ours++
		}
	}
	return ours, all
}

// isOurs recognises a handler by the program it runs, wherever that is installed.
func isOurs(h rawjson.Value) bool {
	command, ok := h.Get("command").Text()
	if !ok || h.Get("type").TextOr("command") != "command" {
		return false
	}
	word, second := command, ""
	if h.Get("args").Kind() == rawjson.Array {
		for a := range h.Get("args").Elements() {
			second = a.TextOr("")
			break
		}
	} else {
		call, err := parseCall(command)
		if err != nil || call == nil {
			return false
		}
		word, second = literal(call, 0), literal(call, 1)
	}
	base := strings.TrimSuffix(filepath.Base(strings.ReplaceAll(word, `\`, "/")), ".exe")
	return base == "plimsoll-hook" && second != "statusline" || base == "plimsoll" && second == "hook"
}

// wireStatusline brings our status line into the file.
func wireStatusline(data []byte, hook, manner string) ([]byte, Composition, error) {
	d, err := edit.Parse(data)
	if err != nil {
		return nil, Composition{}, err
	}
	if err := d.CheckUnique(nil, "statusLine", "hooks"); err != nil {
		return nil, Composition{}, err
	}
	current, path, err := statusCommand(d)
	if err != nil {
		return nil, Composition{}, err
	}
	wrapper := shellWord(hook) + " statusline"
	c := Composition{Command: wrapper}
	if manner == Wrap {
		if c, err = Compose(wrapper, current); err != nil {
			return nil, c, d.Refuse([]string{"statusLine"}, "%v", err)
		}
	}
	if c.Command == current && path != nil {
		return data, c, nil
	}
	if path == nil {
		data, err = edit.Set(data, struct {
			Type    string `json:"type"`
			Command string `json:"command"`
		}{"command", c.Command}, "statusLine")
	} else {
		data, err = edit.Set(data, c.Command, path...)
	}
	return data, c, err
}

// statusCommand returns the command of the status line and where it stands; a nil path when there is none.
func statusCommand(d *edit.Doc) (command string, path []string, err error) {
	line := d.Value("statusLine")
	switch line.Kind() {
	case rawjson.Absent, rawjson.Null:
		return "", nil, nil
	case rawjson.String:
		return line.TextOr(""), []string{"statusLine"}, nil
	case rawjson.Object:
		if command, ok := line.Get("command").Text(); ok {
			return command, []string{"statusLine", "command"}, nil
		}
	}
	return "", nil, d.Refuse([]string{"statusLine"}, "statusLine has no command that is a text")
}

// unwireStatusline takes our wrapper off. A line that was ours alone goes, one that was wrapped is what it was.
func unwireStatusline(data []byte) (out []byte, renderer string, was bool, err error) {
	d, err := edit.Parse(data)
	if err != nil {
		return nil, "", false, err
	}
	current, path, err := statusCommand(d)
	if err != nil || path == nil {
		return data, "", false, err
	}
	c, err := Decompose(current)
	if err != nil || c.Peeled == 0 || !strings.Contains(current, "plimsoll") {
		return data, "", false, nil
	}
	if c.Renderer == "" {
		data, err = edit.Remove(data, "statusLine")
	} else {
		data, err = edit.Set(data, c.Renderer, path...)
	}
	return data, c.Renderer, true, err
}
