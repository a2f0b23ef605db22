//go:build plimsoll_panic

package hookcmd

import (
	"plimsoll/internal/guard"
	"plimsoll/internal/harness"
)

// plantedRules of the plimsoll_panic build hold a rule that panics on every event, so that tests see the built binary
// survive a bug.
var plantedRules = []guard.Rule{{
	Name:  "planted-panic",
	Hears: func(harness.Event) bool { return true },
	Judge: func(harness.Event) harness.Verdict { panic("planted") },
}}
