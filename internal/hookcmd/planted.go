//go:build !plimsoll_panic

package hookcmd

import "plimsoll/internal/guard"

// plantedRules are rules of test builds.
var plantedRules []guard.Rule
