// Package page writes the report as one HTML file that opens from disk: tables that sort, charts drawn by a library that
// is part of the file, and a content security policy that lets nothing be loaded from anywhere. It holds no text of any
// transcript: what comes out of data are numbers, moments, ids, names of models and agent types, and the paths of files
// that could not be used, each as a label (see harness.Label).
package page

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"

	"plimsoll/internal/harness"
	"plimsoll/internal/report"
)

var (
	//go:embed page.html
	layout string
	//go:embed page.css
	style string
	//go:embed tables.js
	tablesScript string
	//go:embed charts.js
	chartsScript string

	// The library and the licences that go with it wherever it goes. chartjs/PIN says which release it is.
	//go:embed chartjs/chart.umd.min.js
	library string
	//go:embed chartjs/LICENSE
	libraryLicence string
	//go:embed chartjs/LICENSE.color
	colourLicence string
)

// view is what the layout is filled with.
type view struct {
	Policy   string // content security policy
	Style    template.HTML
	Title    string
	Range    string
	Note     string // about the range
	Made     string
	Schema   string
	Empty    bool // there is nothing to show but the files
	Facts    []fact
	Advice   *advice
	Sections []section
	Data     template.HTML // the charts' figures, with the scripts that draw them; "" without a chart
	Scripts  template.HTML
	Licences []string
}

// Write writes the page. Sections that d does not have are left out, and charts whose figures d and c do not have. An
// error names what could not be written; the page is made in memory, so only an error of w leaves a part of it behind.
// The same d and c give the same bytes.
func Write(w io.Writer, d report.Document, c report.Charts) error {
	v := view{
		Title:    "Plimsoll report",
		Range:    rangeText(d),
		Note:     prose(d.Range.Note),
		Schema:   harness.Label(d.Schema),
		Empty:    d.Files.Responses == 0,
		Style:    template.HTML("<style>" + style + "</style>"),
		Facts:    facts(d),
		Advice:   adviceOf(d),
		Sections: sections(d, c),
	}
	scripts := []string{tablesScript}
	if d.GeneratedAt != "" {
		v.Made = moment(d.GeneratedAt).Text
	}
	if hasFigures(v.Sections) {
		data, err := chartData(d, c)
		if err != nil {
			return fmt.Errorf("encode chart data: %w", err)
		}
		v.Data = template.HTML(`<script type="application/json" id="data">` + string(data) + "</script>")
		drawing, _, _ := strings.Cut(library, "//# sourceMappingURL=") // which a debugger would look for beside the page
		scripts = append(scripts, drawing, chartsScript)
		v.Licences = []string{libraryLicence, colourLicence}
	}
	policy := "default-src 'none'; base-uri 'none'; form-action 'none'; style-src " + hash(style) + "; script-src"
	for _, s := range scripts {
		policy += " " + hash(s)
		v.Scripts += template.HTML("<script>" + s + "</script>\n")
	}
	v.Policy = policy

	t, err := template.New("page").Parse(layout)
	if err != nil {
		return fmt.Errorf("parse page layout: %w", err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, v); err != nil {
		return fmt.Errorf("fill page layout: %w", err)
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return nil
}

// hash is the source expression that lets exactly this inline script or style run.
func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
