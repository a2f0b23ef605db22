package settings

import (
	"path/filepath"

	"plimsoll/internal/config"
	"plimsoll/internal/rawjson"
	"plimsoll/internal/statefile"
)

// Instrument is what can be said about the one live instrument, the status line, of an environment. Present is false
// where its absence is structural: nothing is broken, and there is nothing to mend in Plimsoll's wiring.
type Instrument struct {
	Present bool
	Why     string // why it is absent, or where it is configured
}

// NoInstrument begins the reason of every structural absence; the contract asks readers for these very words.
const NoInstrument = "no instrument in this environment"

// FindInstrument tells a structural absence of the status line from a defect, as the reader contract does: none
// configured, configured but switched off, or an environment that never runs one.
func FindInstrument(env config.Env, project string) Instrument {
	return findInstrument(env, project, Load(env, project))
}

func findInstrument(env config.Env, project string, files []File) Instrument {
	absent := func(why string) Instrument { return Instrument{false, NoInstrument + ": " + why} }
	line, at := Lookup(files, "statusLine")
	if line.Kind() == rawjson.Absent || line.Kind() == rawjson.Null {
		return absent("no statusLine is configured in any settings file")
	}
	if off, by := Lookup(files, "disableAllHooks"); off.Kind() == rawjson.True {
		return absent("disableAllHooks in " + by.Path + " switches the status line off")
	}
	if managedOnly(files) && at.Scope != Managed {
		return absent("allowManagedHooksOnly narrows the status line to managed settings, which have none")
	}
	if env.Get("CLAUDE_CODE_REMOTE") == "true" {
		return absent("a cloud session runs no status line")
	}
	if entry := env.Get("CLAUDE_CODE_ENTRYPOINT"); entry != "" && entry != "cli" {
		return absent("a session started as " + entry + " runs no status line")
	}
	if project != "" && !trusted(env, project) {
		return absent("the folder is not trusted, so the client runs no status line in it")
	}
	return Instrument{true, "statusLine in " + at.Path}
}

func managedOnly(files []File) bool {
	for _, f := range files {
		if f.Scope == Managed && f.Root.Get("allowManagedHooksOnly").Kind() == rawjson.True {
			return true
		}
	}
	return false
}

// trusted reads the client's own record of the folder. Where there is none to read nothing is known, and an unknown
// must not be reported as a cause.
func trusted(env config.Env, project string) bool {
	path := filepath.Join(env.Home(), ".claude.json")
	if dir := env.Get("CLAUDE_CONFIG_DIR"); dir != "" {
		path = filepath.Join(dir, ".claude.json")
	}
	data, err := statefile.Read(path, maxFile)
	if err != nil {
		return true
	}
	root, err := rawjson.Parse(data)
	if err != nil {
		return true
	}
	refused := false
	for dir := filepath.Clean(project); ; dir = filepath.Dir(dir) {
		// A folder is trusted with any folder above it.
		switch root.Get("projects").Get(dir).Get("hasTrustDialogAccepted").Kind() {
		case rawjson.True:
			return true
		case rawjson.False:
			refused = true
		}
		if filepath.Dir(dir) == dir {
			return !refused
		}
	}
}
