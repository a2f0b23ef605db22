package kb

import (
	"os"
	"path/filepath"

	"github.com/ncruces/go-sqlite3"

	"plimsoll/internal/kb/memories"
)

// Status is what there is to know about a knowledge base.
type Status struct {
	Folders []FolderStatus     `json:"folders"`
	Ignored []memories.Ignored `json:"ignored,omitempty"` // folders that do not count
	Index   IndexStatus        `json:"index"`
}

// FolderStatus is one memory folder.
type FolderStatus struct {
	Label    string             `json:"label"`
	Dir      string             `json:"dir"`
	Notes    int                `json:"notes"`
	Passages int                `json:"passages"`
	Ignored  []memories.Ignored `json:"ignored,omitempty"` // files that are not searched
}

// IndexStatus is the index.
type IndexStatus struct {
	Dir      string `json:"dir,omitempty"`       // "" when it is in memory
	Bytes    int64  `json:"bytes"`               // size on disk
	InMemory string `json:"in_memory,omitempty"` // why it is not on disk
}

// Status brings the index up to date and describes it with its folders.
func (b *Base) Status() (Status, error) {
	st := Status{Ignored: b.Places.Ignored}
	err := b.use(func(ix *index) error {
		st.Folders = nil
		for _, f := range b.Places.Found {
			fs := FolderStatus{Label: f.Label, Dir: f.Dir}
			o, err := f.Open()
			if err != nil {
				return err
			}
			_, fs.Ignored, err = o.Files()
			o.Close()
			if err != nil {
				return err
			}
			err = ix.each(`select file, problem, (select count(*) from passage where passage.id >> 20 = note.id) from note where dir = ? order by file`, []any{f.Dir}, func(s *sqlite3.Stmt) {
				if why := s.ColumnText(1); why != "" {
					fs.Ignored = append(fs.Ignored, memories.Ignored{Path: s.ColumnText(0), Why: why})
					return
				}
				fs.Notes++
				fs.Passages += s.ColumnInt(2)
			})
			if err != nil {
				return err
			}
			st.Folders = append(st.Folders, fs)
		}
		return nil
	})
	if b.memory != nil {
		st.Index.InMemory = b.why
	} else {
		st.Index.Dir = b.Dir()
		if info, err := os.Stat(filepath.Join(b.Dir(), indexName)); err == nil {
			st.Index.Bytes = info.Size()
		}
	}
	return st, err
}
