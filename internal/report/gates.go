package report

// Gates is what the gates did, from decisions.jsonl and the projects' KB gate logs.
type Gates struct {
	Rules []GateRule `json:"rules"`
}

// GateRule is what one rule did.
type GateRule struct {
	Rule     string `json:"rule"` // as in decisions.jsonl
	Notes    int    `json:"notes"`
	Denials  int    `json:"denials"`
	Releases int    `json:"releases"`
	FailOpen int    `json:"fail_open"`
	Obeyed   int    `json:"obeyed"` // denials after which the session did what the denial names
}
