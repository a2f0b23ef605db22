package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"plimsoll/internal/statefile"
)

// Key names everything that a document without the gates depends on: the transcripts by their fingerprint, the options, the
// prices, the day, and this very program.
func (o Options) Key(transcripts string) string {
	h := sha256.New()
	zone, offset := o.Now.In(o.Location).Zone()
	fmt.Fprintf(h, "%s %q %s %d %v %v %+v %q %d %d %d\n", transcripts, o.Section, zone, offset, o.Since, o.Until, o.Policy, o.Recovery, o.Ceilings, o.NearDone, o.KeptDays)
	fmt.Fprintln(h, o.Location, o.Now.Unix()/86400)
	for _, r := range o.Prices.Rows() {
		fmt.Fprintf(h, "%+v\n", *r)
	}
	if path, err := os.Executable(); err == nil {
		if info, err := os.Stat(path); err == nil {
			fmt.Fprintln(h, path, info.Size(), info.ModTime().UnixNano())
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// maxRemembered bounds a document that is remembered, in bytes.
const maxRemembered = 64 << 20

// Recall returns the document that was remembered under the key, as of now; false when there is none.
func Recall(path, key string, o Options) (*Document, bool) {
	data, err := statefile.Read(path, maxRemembered)
	if err != nil {
		return nil, false
	}
	text, ok := bytes.CutPrefix(data, []byte(key+"\n"))
	var d Document
	if !ok || json.Unmarshal(text, &d) != nil || d.Schema != Schema {
		return nil, false
	}
	d.GeneratedAt = o.Now.UTC().Format(time.RFC3339)
	return &d, true
}

// Remember keeps a document for the next run. That it cannot be written costs time next time and nothing else.
func Remember(path, key string, d *Document) {
	text, err := json.Marshal(d)
	if err == nil && len(text) < maxRemembered && statefile.EnsureDir(filepath.Dir(path)) == nil {
		_ = statefile.Replace(path, append([]byte(key+"\n"), text...))
	}
}
