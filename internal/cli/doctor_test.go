package cli

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"plimsoll/internal/doctor"
)

// tree writes down everything about every file below a folder: tree DIR FILE.
func tree(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: tree DIR FILE")
	}
	var b strings.Builder
	ts.Check(filepath.WalkDir(ts.MkAbs(args[0]), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		sum := ""
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			sum = fmt.Sprintf("%x", sha256.Sum256(data))
		}
		_, err = fmt.Fprintln(&b, path, info.Mode(), info.Size(), info.ModTime().UnixNano(), sum)
		return err
	}))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(b.String()), 0o600))
}

func TestDoctorColours(t *testing.T) {
	r := doctor.Report{
		Results: []doctor.Result{{ID: "a", Status: doctor.Fail, What: "/h/x is wrong", Why: "it is", Fix: "mend /h/x"}, {ID: "b", Status: doctor.Pass, What: "fine"}},
		Values:  []doctor.Value{{Name: "n", Value: 7, From: "default"}},
	}
	var plain, coloured strings.Builder
	if err := printDoctor(&plain, r, "/h", false); err != nil {
		t.Fatal(err)
	}
	if err := printDoctor(&coloured, r, "/h", true); err != nil {
		t.Fatal(err)
	}
	want := "FAIL  a: ~/x is wrong (it is)\n      fix: mend ~/x\nPASS  b: fine\n\nSettings, each with where it comes from\n" +
		"      n                        7 (default)\n\n1 passed, 0 to know, 1 failed\n"
	if plain.String() != want {
		t.Errorf("got\n%s\nwant\n%s", plain.String(), want)
	}
	if !strings.Contains(coloured.String(), "\x1b[") {
		t.Error("a terminal gets no colours")
	}
}
