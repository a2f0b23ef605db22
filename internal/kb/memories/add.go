package memories

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"plimsoll/internal/kb/note"
)

// Draft is a note that is to be written.
type Draft struct {
	Title       string
	Description string
	Tags        []string
	Date        string // YYYY-MM-DD
	Text        string // may begin with front matter, whose keys then stay
}

// ErrEmpty reports a draft without a text.
var ErrEmpty = errors.New("there is no text")

// Add writes a draft into the folder, below sub ("" for the folder itself), and returns the file's name relative to
// the folder. An existing note is never written over: the error then is fs.ErrExist.
func (f Folder) Add(sub string, d Draft) (name string, err error) {
	switch {
	case strings.TrimSpace(d.Text) == "":
		return "", ErrEmpty
	case len(d.Text) > MaxFile:
		return "", fmt.Errorf("the text is %s", tooLarge)
	case !utf8.ValidString(d.Text):
		return "", fmt.Errorf("the text is %w", ErrNotText)
	}
	slug := slug(d.Title)
	if slug == "" {
		return "", fmt.Errorf("title %q has no letter or digit to name a file with", d.Title)
	}
	name = path.Join(filepath.ToSlash(sub), slug+".md")
	// 0o755 and 0o644: notes are the team's and go into the repository, unlike state.
	if err := os.MkdirAll(f.Dir, 0o755); err != nil {
		return "", err
	}
	root, err := os.OpenRoot(f.Dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	if dir := path.Dir(name); dir != "." {
		if err := root.MkdirAll(filepath.FromSlash(dir), 0o755); err != nil {
			return "", err
		}
	}
	out, err := root.OpenFile(filepath.FromSlash(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return name, fmt.Errorf("%s: %w", name, fs.ErrExist)
	}
	if err != nil {
		return "", err
	}
	_, err = out.WriteString(d.markdown())
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		// A part of a note would be in the way of the next attempt.
		_ = root.Remove(filepath.FromSlash(name))
		return "", err
	}
	return name, nil
}

// markdown is the file's content. Keys that the text brings along win over the draft's.
func (d Draft) markdown() string {
	text := strings.ReplaceAll(strings.TrimPrefix(d.Text, "\ufeff"), "\r\n", "\n")
	has := note.Keys(text)
	var b strings.Builder
	b.WriteString("---\n")
	key := func(key, value string) {
		if value != "" && !has[key] {
			b.WriteString(key + ": " + value + "\n")
		}
	}
	quoted := func(s string) string {
		if s == "" {
			return ""
		}
		return note.Quote(s)
	}
	key("name", quoted(d.Title))
	key("description", quoted(d.Description))
	var tags []string
	for _, t := range d.Tags {
		tags = append(tags, note.Quote(t))
	}
	if len(tags) > 0 {
		key("tags", "["+strings.Join(tags, ", ")+"]")
	}
	key("date", d.Date)
	if has == nil {
		b.WriteString("---\n\n")
		text = strings.TrimLeft(text, "\n")
	} else {
		_, text, _ = strings.Cut(text, "\n") // its opening mark is written already
	}
	b.WriteString(text)
	if !strings.HasSuffix(text, "\n") {
		b.WriteByte('\n')
	}
	return b.String()
}

// slug makes a file name of a title: letters and digits in lower case, everything else one -.
func slug(title string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(title) {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			b.WriteRune(r)
		} else if s := b.String(); s != "" && s[len(s)-1] != '-' {
			b.WriteByte('-')
		}
		if b.Len() > 76 {
			break
		}
	}
	return strings.Trim(b.String(), "-")
}
