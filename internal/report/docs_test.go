package report

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

// The page for users names every key of the JSON.
func TestTheDocumentationNamesEveryKey(t *testing.T) {
	text, err := os.ReadFile("../../docs/report.md")
	if err != nil {
		t.Fatal(err)
	}
	words := map[string]bool{}
	for i, part := range strings.Split(string(text), "`") {
		if i%2 == 0 {
			continue
		}
		for _, word := range strings.FieldsFunc(part, func(r rune) bool { return !(r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9') }) {
			words[word] = true
		}
	}
	seen := map[reflect.Type]bool{}
	keys := 0
	var look func(reflect.Type)
	look = func(of reflect.Type) {
		for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice || of.Kind() == reflect.Map {
			of = of.Elem()
		}
		if of.Kind() != reflect.Struct || seen[of] {
			return
		}
		seen[of] = true
		for i := range of.NumField() {
			f := of.Field(i)
			if key, _, _ := strings.Cut(f.Tag.Get("json"), ","); key != "" {
				if keys++; !words[key] {
					t.Errorf("%s of %s is not in docs/report.md", key, of.Name())
				}
			}
			look(f.Type)
		}
	}
	look(reflect.TypeFor[Document]())
	if keys < 100 {
		t.Errorf("%d keys were looked for", keys)
	}
}
