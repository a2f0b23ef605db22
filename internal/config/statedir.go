package config

import "path/filepath"

// StateDir is the folder of the zone rules' private state: the plugin's data folder when the client names one, else
// beside the snapshots. It is "" when neither can be had; a relative path is none, for the reason that Home gives.
func (e Env) StateDir() string {
	if data := e.Get("CLAUDE_PLUGIN_DATA"); filepath.IsAbs(data) {
		return filepath.Join(data, "state")
	}
	if home := e.Home(); home != "" {
		return filepath.Join(home, ".claude", "context-guard", "state")
	}
	return ""
}
