package hookcmd

import (
	"plimsoll/internal/config"
	"plimsoll/internal/guard"
	"plimsoll/internal/snapshot"
	"plimsoll/internal/zonewatch"
)

// zoneRules are the rules about zones that the settings want.
func (p Process) zoneRules(zones config.Zones) []guard.Rule {
	store, ok := snapshot.In(p.Env.Home())
	if !ok || !zones.Enabled.V {
		return nil
	}
	w := zonewatch.Watch{Store: store, State: p.Env.StateDir(), Now: p.Now}
	rules := []guard.Rule{zonewatch.Crossing(w), zonewatch.Marker(w)}
	if zones.Mode.V == config.Blocking {
		rules = append(rules, zonewatch.Gate(w, zones.Grace.V))
	}
	return rules
}
