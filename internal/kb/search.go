package kb

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ncruces/go-sqlite3"
)

// Limits of a search, in results.
const (
	DefaultLimit = 6
	MaxLimit     = 50
)

// Hit is a note that fits, with the passage of it that fits best.
type Hit struct {
	File        string  `json:"file"`   // Key
	Folder      string  `json:"folder"` // label of the memory folder
	Path        string  `json:"path"`   // absolute
	Heading     string  `json:"heading"`
	Headings    string  `json:"headings"` // the heading with those that it stands under, " > " between them
	First       int     `json:"first_line"`
	Last        int     `json:"last_line"`
	Score       float64 `json:"score"` // BM25 of the note plus that of the passage; only its order within one search means something
	Name        string  `json:"name"`
	Description string  `json:"description,omitempty"`
	Tags        string  `json:"tags,omitempty"`
	Date        string  `json:"date,omitempty"`
	Snippet     string  `json:"snippet"` // at most MaxSnippet characters
	More        []Range `json:"more,omitempty"`

	note    int64
	passage int64 // 0 when only the front matter fits
	more    []int64
}

// Range is a further passage of the same note that fits.
type Range struct {
	Heading string `json:"heading"`
	First   int    `json:"first_line"`
	Last    int    `json:"last_line"`
}

// maxMore bounds Hit.More.
const maxMore = 3

// Weights of the columns in BM25, in the order of the tables: how much more a word says in a title than in the text.
const (
	noteRank    = `bm25(note_text, 3, 2, 2, 2, 1, 1)`
	passageRank = `bm25(passage_text, 2, 1, 1)`
)

// Search returns the notes that fit a query best, at most limit (DefaultLimit when it is 0 or less). Words are joined by
// "or"; when none of them is found, notes with words that begin like them are.
func (b *Base) Search(query string, limit int) (hits []Hit, err error) {
	if limit <= 0 {
		limit = DefaultLimit
	}
	limit = min(limit, MaxLimit)
	ts := terms(query)
	if len(ts) == 0 {
		return nil, nil
	}
	err = b.use(func(ix *index) (err error) {
		hits, err = ix.search(strings.Join(ts, " OR "), limit)
		if err == nil && len(hits) == 0 {
			hits, err = ix.search(strings.Join(ts, "* OR ")+"*", limit)
		}
		return err
	})
	for i := range hits {
		b.place(&hits[i])
	}
	return hits, err
}

// place completes a hit, whose Folder holds the folder's path, by the folder's label.
func (b *Base) place(h *Hit) {
	for _, f := range b.Places.Found {
		if f.Dir == h.Folder {
			h.Path = filepath.Join(f.Dir, filepath.FromSlash(h.File))
			h.Folder, h.File = f.Label, Key(f.Label, h.File)
			return
		}
	}
}

func (ix *index) search(expr string, limit int) ([]Hit, error) {
	// Passages decide among notes that fit about equally, so some more notes than asked for are looked at.
	byNote := map[int64]*Hit{}
	err := ix.each(`select n.id, n.dir, n.file, n.name, n.description, n.tags, n.date, -t.score
		from (select rowid, `+noteRank+` as score from note_text where note_text match ? order by score limit ?) t join note n on n.id = t.rowid`,
		[]any{expr, 3*limit + 10}, func(s *sqlite3.Stmt) {
			byNote[s.ColumnInt64(0)] = &Hit{note: s.ColumnInt64(0), Folder: s.ColumnText(1), File: s.ColumnText(2), Name: s.ColumnText(3),
				Description: s.ColumnText(4), Tags: s.ColumnText(5), Date: s.ColumnText(6), Score: s.ColumnFloat(7)}
		})
	if err != nil || len(byNote) == 0 {
		return nil, err
	}
	// The condition spares the ranking of passages of all the other notes.
	type passage struct {
		id    int64
		score float64
	}
	passages := map[int64][]passage{}
	err = ix.each(fmt.Sprintf(`select rowid, -%s from passage_text where passage_text match ? and rowid >> %d in (%s)`, passageRank, passageBits, list(slices.Collect(maps.Keys(byNote)))),
		[]any{expr}, func(s *sqlite3.Stmt) {
			p := passage{s.ColumnInt64(0), s.ColumnFloat(1)}
			passages[p.id>>passageBits] = append(passages[p.id>>passageBits], p)
		})
	if err != nil {
		return nil, err
	}
	for id, ps := range passages {
		slices.SortFunc(ps, func(a, b passage) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id)) })
		h := byNote[id]
		h.passage = ps[0].id
		h.Score += ps[0].score
		for _, p := range ps[1:] {
			if len(h.more) < maxMore && p.score > ps[0].score/2 {
				h.more = append(h.more, p.id)
			}
		}
	}
	hits := make([]*Hit, 0, len(byNote))
	for _, h := range byNote {
		hits = append(hits, h)
	}
	slices.SortFunc(hits, func(a, b *Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Folder, b.Folder), cmp.Compare(a.File, b.File))
	})
	hits = hits[:min(limit, len(hits))]
	if err := ix.complete(hits, expr); err != nil {
		return nil, err
	}
	out := make([]Hit, 0, len(hits))
	for _, h := range hits {
		out = append(out, *h)
	}
	return out, nil
}

// complete adds the words of the passages to hits: of all of them at once, since making a statement ready costs more
// than running it.
func (ix *index) complete(hits []*Hit, expr string) error {
	var best, all []int64
	for _, h := range hits {
		if h.passage == 0 {
			h.passage = h.note << passageBits
		}
		best = append(best, h.passage)
		all = append(append(all, h.passage), h.more...)
	}
	type place struct {
		headings    string
		first, last int
	}
	places := map[int64]place{}
	err := ix.each(`select id, headings, first, last from passage where id in (`+list(all)+`)`, nil, func(s *sqlite3.Stmt) {
		places[s.ColumnInt64(0)] = place{s.ColumnText(1), s.ColumnInt(2), s.ColumnInt(3)}
	})
	if err != nil {
		return err
	}
	texts := map[int64]string{}
	text := func(s *sqlite3.Stmt) { texts[s.ColumnInt64(0)] = s.ColumnText(1) }
	// The + keeps the full-text index from being asked once for every passage.
	err = ix.each(`select rowid, highlight(passage_text, 1, '`+markOn+`', '`+markOff+`') from passage_text where passage_text match ? and +rowid in (`+list(best)+`)`,
		[]any{expr}, text)
	if err != nil {
		return err
	}
	best = slices.DeleteFunc(best, func(id int64) bool { _, have := texts[id]; return have })
	if len(best) > 0 { // only their front matter fits
		if err := ix.each(`select rowid, body from passage_text where rowid in (`+list(best)+`)`, nil, text); err != nil {
			return err
		}
	}
	for _, h := range hits {
		p := places[h.passage]
		h.Headings, h.Heading, h.First, h.Last = p.headings, last(p.headings), p.first, p.last
		for _, id := range h.more {
			if p, have := places[id]; have {
				h.More = append(h.More, Range{last(p.headings), p.first, p.last})
			}
		}
		h.Snippet = snippet(texts[h.passage])
	}
	return nil
}

// list is ids for SQL's in (...).
func list(ids []int64) string {
	var b strings.Builder
	for i, id := range ids {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.FormatInt(id, 10))
	}
	return b.String()
}

// last returns the innermost of headings.
func last(headings string) string {
	if i := strings.LastIndex(headings, " > "); i >= 0 {
		return headings[i+3:]
	}
	return headings
}
