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
	Case    Case
}

// Case is one of the contract's four answers to "why is there no snapshot?". Only Configured can be a defect.
type Case string

// The cases.
const (
	NotConfigured Case = "not configured" // no statusLine in any scope
	SwitchedOff   Case = "switched off"   // by policy, by choice, or because the folder is not trusted
	NotRun        Case = "not run here"   // cloud, claude -p and whatever else has no terminal
	Configured    Case = "configured"
)

// NoInstrument begins the reason of every structural absence; the contract asks readers for these very words.
const NoInstrument = "no instrument in this environment"

// FindInstrument tells a structural absence of the status line from a defect, as the reader contract does: none
// configured, configured but switched off, or an environment that never runs one.
func FindInstrument(env config.Env, project string) Instrument {
	return InstrumentIn(env, project, Load(env, project))
}

// InstrumentIn is FindInstrument over settings that were read already.
func InstrumentIn(env config.Env, project string, files []File) Instrument {
	absent := func(c Case, why string) Instrument { return Instrument{false, NoInstrument + ": " + why, c} }
	line, at := Lookup(files, "statusLine")
	if line.Kind() == rawjson.Absent || line.Kind() == rawjson.Null {
		if Unreadable(files) != "" {
			return absent(NotConfigured, "no statusLine is configured in any settings file that can be read")
		}
		return absent(NotConfigured, "no statusLine is configured in any settings file")
	}
	if off, by := Lookup(files, "disableAllHooks"); off.Kind() == rawjson.True {
		return absent(SwitchedOff, "disableAllHooks in "+by.Path+" switches the status line off")
	}
	if ManagedOnly(files) && at.Scope != Managed {
		return absent(SwitchedOff, "allowManagedHooksOnly narrows the status line to managed settings, which have none")
	}
	if why := NoStatusline(env); why != "" {
		return absent(NotRun, why)
	}
	if project != "" && !Trusted(env, project) {
		return absent(SwitchedOff, "the folder is not trusted, so the client runs no status line in it")
	}
	return Instrument{true, "statusLine in " + at.Path, Configured}
}

// Unreadable is the first file that is there and cannot be used, "" when there is none. The client takes nothing from it.
func Unreadable(files []File) string {
	for _, f := range files {
		if f.Err != nil {
			return f.Path
		}
	}
	return ""
}

// NoStatusline says why this environment runs no status line, whatever is configured; "" when it may run one.
func NoStatusline(env config.Env) string {
	if env.Get("CLAUDE_CODE_REMOTE") == "true" {
		return "a cloud session runs no status line"
	}
	if entry := env.Get("CLAUDE_CODE_ENTRYPOINT"); entry != "" && entry != "cli" {
		return "a session started as " + entry + " runs no status line"
	}
	return ""
}

// ManagedOnly tells whether managed settings narrow hooks and status line to managed ones.
func ManagedOnly(files []File) bool {
	for _, f := range files {
		if f.Scope == Managed && f.Root.Get("allowManagedHooksOnly").Kind() == rawjson.True {
			return true
		}
	}
	return false
}

// Trusted reads the client's own record of the folder. Where there is none to read nothing is known, and an unknown
// must not be reported as a cause.
func Trusted(env config.Env, project string) bool {
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
