package kbgate

import (
	"strconv"
	"strings"

	"plimsoll/internal/config"
	"plimsoll/internal/harness"
)

// What is told. Every text that a model reads is at most MaxText characters, and what a denial names does let the call
// through. Names of settings stand in the operator's texts only: a model must not be taught to switch its guard off.

// MaxText is the most characters that a denial, a note or a briefing has.
const MaxText = 1000

// maxNames bounds the part of a text that names the searches, in bytes, so that the whole stays within MaxText.
const maxNames = 240

// searchNames says with what a model can search: what the settings count as a search, as far as there is room. A name
// that cannot be shown as it is, is left out. The settings are those of
// Gate.AtHand: what the session is known to have, where anything is known.
func searchNames(kb config.KB) string {
	var names []string
	room := maxNames
	add := func(before, name, after string) {
		text := before + name + after
		if harness.Label(name) == name && len(text) <= room {
			names = append(names, text)
			room -= len(text) + len(", ")
		}
	}
	for _, command := range kb.SearchCommands.V {
		add(`the Bash command "`, strings.Join(strings.Fields(command), " "), ` <words>"`)
	}
	for _, tool := range kb.SearchTools.V {
		add("the tool ", tool, "")
	}
	switch len(names) {
	case 0:
		return "the project's knowledge-base search"
	case 1:
		return names[0]
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// lookup is what a spawn was judged on.
type lookup struct {
	kind     string // of the sub-agent
	searched bool   // by the model, in this turn
	block    bool   // the prompt has the marker
}

func (l lookup) satisfied() bool { return l.searched && l.block }

// missing names what a spawn lacks.
func (l lookup) missing() string {
	const search = "a knowledge-base search of your own in this turn"
	const block = "the findings in the sub-agent's prompt"
	switch {
	case !l.searched && !l.block:
		return search + ", and " + block
	case !l.searched:
		return search
	}
	return block
}

const whyBother = "What earlier sessions learnt and decided stands in .claude/memories/, and a sub-agent cannot see what you have looked up. "

func denialForModel(kb config.KB, l lookup) string {
	marker := kb.Marker.V
	text := "KB gate: this " + harness.Label(l.kind) + " sub-agent was not started. " + whyBother + "Missing: " + l.missing() + ". What lets it through: "
	if !l.searched {
		text += "search once with " + searchNames(kb) + " (whichever you have; no hits are fine), wait for the result, then make this call again with "
	} else {
		text += "make this call again with "
	}
	text += `a prompt that has a line starting with "` + marker + `" and then the findings that matter for it, or that there were none.`
	return text + " One search serves all sub-agents of the turn; each prompt needs a block of its own."
}

func adviceForModel(kb config.KB, l lookup) string {
	marker := kb.Marker.V
	text := "KB gate, advice only: this " + harness.Label(l.kind) + " sub-agent starts without a lookup. " + whyBother + "Missing: " + l.missing() + ". For the next one: "
	if !l.searched {
		text += "search once with " + searchNames(kb) + " (whichever you have), and "
	}
	return text + `open its prompt with "` + marker + `" and the findings that matter for it.`
}

func briefing(kb config.KB) string {
	return "What earlier sessions learnt and decided in this project stands in .claude/memories/. " +
		`If your prompt has a block that opens with "` + kb.Marker.V + `", that is the lookup: take it as settled, check it against the code you touch, and neither search again nor work it out anew. ` +
		"If it has none and you are about to open or grep more than two files, search once before you do, with " + searchNames(kb) +
		" (whichever you have; with none of them, go on): a few keywords and your question, no variations. If nothing fits, go on. " +
		"Hits are excerpts: read the whole document before you rely on one. Report what you found wrong or missing there."
}

const settingHint = ` The setting is kb.mode (off, observe, warn, enforce) in .claude/plimsoll.json or ~/.claude/plimsoll/config.json, or PLIMSOLL_KB_MODE.`

func lacking(l lookup) string {
	switch {
	case !l.searched && !l.block:
		return "no search in this turn, no findings in its prompt"
	case !l.searched:
		return "no search in this turn"
	}
	return "no findings in its prompt"
}

func adviceForOperator(l lookup) string {
	return "plimsoll: a sub-agent (" + harness.Label(l.kind) + ") started without a knowledge-base lookup: " + lacking(l) + ". The model was told." + settingHint
}

func denialForOperator(l lookup) string {
	return "plimsoll: the KB gate held a sub-agent (" + harness.Label(l.kind) + ") back: " + lacking(l) + ". The model was told what lets it through." + settingHint
}

func releaseForOperator(l lookup, why string) string {
	budget := strconv.Itoa(MaxPerSearch) + " denials since the last search"
	switch why {
	case whyTurn:
		budget = strconv.Itoa(MaxPerTurn) + " denials in one turn"
	case whySession:
		budget = strconv.Itoa(MaxPerSession) + " denials in one session"
	}
	return "plimsoll: the KB gate let a sub-agent (" + harness.Label(l.kind) + ") start without a knowledge-base lookup (" + lacking(l) + "): " + budget + " are the most there are."
}
