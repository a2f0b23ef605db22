// Package promptcache reads the prompt_cache object of a statusline payload: whether the cache is warm, and why the
// last request missed it. The statusline is the only place where the client says so.
package promptcache

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/harness"
	"plimsoll/internal/rawjson"
)

// Cause writes the last miss as tab-separated lines: causes with their names, then how many tools were added and
// removed and by how many characters the system prompt changed, as far as the client counted them. A payload without a
// prompt_cache object has "absent" for a cause, one without a miss "null". Anything else is an error.
func Cause(payload []byte) (string, error) {
	root, err := rawjson.Parse(payload)
	if err != nil {
		return "", fmt.Errorf("read statusline payload: %w", err)
	}
	if root.Kind() != rawjson.Object {
		return "", errors.New("read statusline payload: the root is no object")
	}
	cache := root.Get("prompt_cache")
	if cache.Kind() != rawjson.Object {
		return "last_miss_cause\tabsent\n", nil
	}
	cause := cache.Get("last_miss_cause")
	switch cause.Kind() {
	case rawjson.Absent, rawjson.Null:
		return "last_miss_cause\tnull\n", nil
	case rawjson.Object:
	default:
		return "", errors.New("read statusline payload: last_miss_cause is no object")
	}
	names, ok := causes(cause)
	if !ok {
		return "", errors.New("read statusline payload: causes is no list of strings")
	}
	var b strings.Builder
	b.WriteString("causes\t" + strings.Join(names, ",") + "\n")
	for _, key := range []string{"tools_added", "tools_removed", "system_char_delta"} {
		if v := cause.Get(key); v != nil {
			b.WriteString(key + "\t" + harness.Label(v.TextOr(string(v.AppendCompact(nil)))) + "\n")
		}
	}
	return b.String(), nil
}

func causes(cause rawjson.Value) ([]string, bool) {
	list := cause.Get("causes")
	if list.Kind() != rawjson.Array {
		return nil, false
	}
	var names []string
	for e := range list.Elements() {
		name, ok := e.Text()
		if !ok {
			return nil, false
		}
		names = append(names, harness.Label(name))
	}
	return names, true
}

// Warmth is the state of the cache at one moment.
type Warmth struct {
	Known bool          // the payload has a prompt_cache in which caching was observed
	Warm  bool          // the next request can read from the cache
	Left  time.Duration // until it expires; 0 when the client did not say
}

// WarmthAt reads how warm the cache is. A warm cache whose time has run out is cold: the status line may be redrawn
// long after the client measured.
func WarmthAt(root rawjson.Value, now time.Time) Warmth {
	cache := root.Get("prompt_cache")
	if cache.Kind() != rawjson.Object || cache.Get("caching_observed").Kind() == rawjson.False {
		return Warmth{}
	}
	w := Warmth{Known: true, Warm: cache.Get("warm").Kind() == rawjson.True}
	if at, ok := expiry(cache); ok && w.Warm {
		w.Left = at.Sub(now)
		w.Warm = w.Left > 0
	}
	return w
}

// expiry reads expires_at, epoch seconds.
func expiry(cache rawjson.Value) (time.Time, bool) {
	s, ok := cache.Get("expires_at").Float()
	if !ok || s <= 0 || s > 1<<40 {
		return time.Time{}, false
	}
	return time.Unix(int64(s), 0), true
}

const (
	green = "\x1b[32m"
	dim   = "\x1b[2m"
	reset = "\x1b[0m"
)

// Segment is the cache as one segment of a status line, without a line end; "" when the payload says nothing of it.
// Times are in loc.
func Segment(payload []byte, loc *time.Location, colour bool) string {
	root, err := rawjson.Parse(payload)
	if err != nil {
		return ""
	}
	cache := root.Get("prompt_cache")
	if cache.Kind() != rawjson.Object {
		return ""
	}
	if cache.Get("caching_observed").Kind() == rawjson.False {
		return "cache not reported"
	}
	paint := func(code, s string) string {
		if !colour {
			return s
		}
		return code + s + reset
	}
	var parts []string
	if cache.Get("warm").Kind() == rawjson.True {
		s := paint(green, "●") + " warm"
		if at, ok := expiry(cache); ok {
			s += " until " + at.In(loc).Format("15:04")
		}
		if ttl, ok := cache.Get("ttl").Text(); ok {
			s += " (" + harness.Label(ttl) + ")"
		}
		parts = append(parts, s)
	} else {
		parts = append(parts, paint(dim, "○")+" cold")
		if n, ok := cache.Get("recache_tokens_if_cold").Float(); ok && n > 0 {
			parts = append(parts, "next message re-caches ~"+tokens(n))
		}
	}
	if ratio, ok := cache.Get("hit_ratio").Float(); ok && ratio >= 0 && ratio <= 1 {
		parts = append(parts, "hit "+strconv.Itoa(int(math.Round(ratio*100)))+"%")
	}
	if misses, ok := cache.Get("misses").Float(); ok && misses > 0 {
		s := "misses " + strconv.FormatFloat(misses, 'f', -1, 64)
		if names, ok := causes(cache.Get("last_miss_cause")); ok && len(names) > 0 {
			s += " (last: " + strings.Join(names, ", ") + ")"
		}
		parts = append(parts, s)
	}
	return "cache " + strings.Join(parts, " · ")
}

// tokens is a count rounded for people: 82340 is 82k, 1250000 is 1.3M.
func tokens(n float64) string {
	switch {
	case n >= 999_500:
		return strconv.FormatFloat(math.Round(n/1e5)/10, 'f', -1, 64) + "M"
	case n >= 1000:
		return strconv.Itoa(int(math.Round(n/1000))) + "k"
	}
	return strconv.Itoa(int(n))
}
