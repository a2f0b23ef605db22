//go:build chromium && unix

package page_test

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/report"
)

// browser is a Chromium without a window that is spoken to through a pair of pipes, so that the page under test is the very
// file that Write made.
type browser struct {
	t       *testing.T
	in      io.Writer
	out     *bufio.Reader
	last    int
	session string
	events  []message
}

type message struct {
	ID     int
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct{ Message string }
}

// start starts Chromium with one tab. Whoever asks for this test wants it: no Chromium is a failure.
func start(t *testing.T) *browser {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Fatal("no chromium in the PATH")
	}
	home := t.TempDir()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute) // against a browser that hangs
	fromTest, toBrowser, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	fromBrowser, toTest, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, path, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
		"--hide-scrollbars", "--disable-background-networking", "--disable-component-update", "--disable-breakpad", "--remote-debugging-pipe", "--user-data-dir="+home, "about:blank")
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+home, "TZ=Europe/Athens")
	cmd.ExtraFiles = []*os.File{fromTest, toTest} // descriptors 3 and 4
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	fromTest.Close()
	toTest.Close()
	b := &browser{t: t, in: toBrowser, out: bufio.NewReader(fromBrowser)}
	t.Cleanup(func() {
		b.session = ""
		fmt.Fprintf(b.in, `{"id":%d,"method":"Browser.close"}`+"\x00", b.last+1)
		_ = cmd.Wait()
		cancel()
		toBrowser.Close()
		fromBrowser.Close()
	})

	var target struct{ TargetID string }
	b.call(&target, "Target.createTarget", map[string]any{"url": "about:blank"})
	var attached struct{ SessionID string }
	b.call(&attached, "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true})
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.call(nil, domain+".enable", nil)
	}
	return b
}

func (b *browser) call(result any, method string, params map[string]any) {
	b.t.Helper()
	b.last++
	request := map[string]any{"id": b.last, "method": method}
	if params != nil {
		request["params"] = params
	}
	if b.session != "" {
		request["sessionId"] = b.session
	}
	text, err := json.Marshal(request)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.in.Write(append(text, 0)); err != nil {
		b.t.Fatal(err)
	}
	for {
		m := b.read()
		if m.ID != b.last {
			continue
		}
		if m.Error != nil {
			b.t.Fatalf("%s: %s", method, m.Error.Message)
		}
		if result != nil {
			if err := json.Unmarshal(m.Result, result); err != nil {
				b.t.Fatal(err)
			}
		}
		return
	}
}

// read reads one message and keeps it if it is an event.
func (b *browser) read() message {
	b.t.Helper()
	text, err := b.out.ReadBytes(0)
	if err != nil {
		b.t.Fatalf("chromium ended: %v", err)
	}
	var m message
	if err := json.Unmarshal(text[:len(text)-1], &m); err != nil {
		b.t.Fatal(err)
	}
	if m.Method != "" {
		b.events = append(b.events, m)
	}
	return m
}

// open writes the page to disk, opens it, and waits until it is loaded.
func (b *browser) open(d report.Document, c report.Charts) {
	b.t.Helper()
	file := filepath.Join(b.t.TempDir(), "report.html")
	if err := os.WriteFile(file, []byte(write(b.t, d, c)), 0o600); err != nil {
		b.t.Fatal(err)
	}
	b.events = nil
	b.call(nil, "Page.navigate", map[string]any{"url": "file://" + file})
	for !slices.ContainsFunc(b.events, func(m message) bool { return m.Method == "Page.loadEventFired" }) {
		b.read()
	}
}

// quiet fails if the page said anything on the console, threw, broke its policy, or asked for anything but itself.
func (b *browser) quiet() {
	b.t.Helper()
	b.eval(nil, `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))`)
	requests := 0
	for _, m := range b.events {
		switch m.Method {
		case "Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded":
			b.t.Errorf("%s: %s", m.Method, m.Params)
		case "Network.requestWillBeSent":
			if requests++; requests > 1 {
				b.t.Errorf("a request beyond the page: %s", m.Params)
			}
		}
	}
	if requests != 1 {
		b.t.Errorf("%d requests, want the page's own", requests)
	}
}

func (b *browser) eval(result any, script string) {
	b.t.Helper()
	var answer struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	b.call(&answer, "Runtime.evaluate", map[string]any{"expression": script, "returnByValue": true, "awaitPromise": true})
	if answer.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", script, answer.ExceptionDetails)
	}
	if result != nil {
		if err := json.Unmarshal(answer.Result.Value, result); err != nil {
			b.t.Fatalf("%s: %v", script, err)
		}
	}
}

func (b *browser) show(width int, scheme string) {
	b.t.Helper()
	b.call(nil, "Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false})
	b.call(nil, "Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]any{"name": "prefers-color-scheme", "value": scheme}}})
	b.eval(nil, `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))`)
}

// keep keeps a picture or a print in the folder that PLIMSOLL_PAGE_OUT names, for somebody to look at.
func (b *browser) keep(name, method string, params map[string]any) []byte {
	b.t.Helper()
	var got struct{ Data string }
	b.call(&got, method, params)
	data, err := base64.StdEncoding.DecodeString(got.Data)
	if err != nil {
		b.t.Fatal(err)
	}
	if dir := os.Getenv("PLIMSOLL_PAGE_OUT"); dir != "" {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			b.t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			b.t.Fatal(err)
		}
	}
	return data
}

// drawn is, for each chart, in how many pixels there is ink of colours that are no greys.
const drawn = `Object.fromEntries(Array.from(document.querySelectorAll("canvas"), (c) => {
	const copy = new OffscreenCanvas(c.width, c.height).getContext("2d", {willReadFrequently: true});
	copy.drawImage(c, 0, 0);
	const p = copy.getImageData(0, 0, c.width, c.height).data;
	let n = 0;
	for (let i = 0; i < p.length; i += 4)
		if (p[i + 3] > 200 && Math.max(p[i], p[i + 1], p[i + 2]) - Math.min(p[i], p[i + 1], p[i + 2]) > 60) n++;
	return [c.id, n];
}))`

// contrast is the least contrast, by WCAG's formula, of any text of the page on what is behind it.
const contrast = `(() => {
	const rgb = (s) => (s.match(/[\d.]+/g) || [0, 0, 0, 0]).map(Number);
	const light = (c) => [0.2126, 0.7152, 0.0722].reduce((n, w, i) => {
		const v = c[i] / 255;
		return n + w * (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
	}, 0);
	let least = [99, ""];
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let n = walk.nextNode(); n; n = walk.nextNode()) {
		const e = n.parentElement;
		if (!n.data.trim() || ["SCRIPT", "NOSCRIPT"].includes(e.tagName)) continue;
		let back = e;
		while (back.parentElement && rgb(getComputedStyle(back).backgroundColor)[3] === 0) back = back.parentElement;
		const a = light(rgb(getComputedStyle(e).color)), b = light(rgb(getComputedStyle(back).backgroundColor));
		const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		if (ratio < least[0]) least = [ratio, e.outerHTML.slice(0, 120)];
	}
	return least;
})()`

func TestChromiumDrawsLightAndDark(t *testing.T) {
	b := start(t)
	b.show(1280, "light")
	b.open(month())
	for _, scheme := range []string{"light", "dark"} {
		b.show(1280, scheme)
		var got map[string]int
		b.eval(&got, drawn)
		if len(got) != 6 {
			t.Errorf("%s: charts %v", scheme, got)
		}
		for id, n := range got {
			if n < 300 {
				t.Errorf("%s: %s has %d coloured pixels", scheme, id, n)
			}
		}
		var least []any
		b.eval(&least, contrast)
		if least[0].(float64) < 4.5 {
			t.Errorf("%s: contrast of %.2f in %s", scheme, least[0], least[1])
		}
		b.keep(scheme+".png", "Page.captureScreenshot", map[string]any{"captureBeyondViewport": true})
	}

	b.show(380, "dark")
	var wide int
	b.eval(&wide, `document.documentElement.scrollWidth`)
	if wide > 380 {
		t.Errorf("a page of %d pixels on a screen of 380", wide)
	}
	b.keep("narrow.png", "Page.captureScreenshot", map[string]any{"captureBeyondViewport": true})

	// What is printed is light, whatever the screen is.
	pictures := func() (out []string) {
		b.eval(&out, `Array.from(document.querySelectorAll("canvas"), (c) => c.toDataURL())`)
		return out
	}
	b.show(1280, "light")
	light := pictures()
	b.show(1280, "dark")
	dark := pictures()
	b.eval(nil, `dispatchEvent(new Event("beforeprint"))`)
	if !slices.Equal(pictures(), light) {
		t.Error("in the dark, charts are not made light for a print")
	}
	b.eval(nil, `dispatchEvent(new Event("afterprint"))`)
	if !slices.Equal(pictures(), dark) || slices.Equal(dark, light) {
		t.Error("after a print, charts are not as they were")
	}
	if pdf := b.keep("print.pdf", "Page.printToPDF", map[string]any{"printBackground": true, "preferCSSPageSize": true}); !strings.HasPrefix(string(pdf), "%PDF-") {
		t.Errorf("a print of %d bytes", len(pdf))
	}
	b.quiet()
}

func (b *browser) key(key string) {
	b.t.Helper()
	text := map[string]string{"Enter": "\r"}[key]
	b.call(nil, "Input.dispatchKeyEvent", map[string]any{"type": "keyDown", "key": key, "code": key, "text": text, "windowsVirtualKeyCode": map[string]int{"Enter": 13, "Tab": 9}[key]})
	b.call(nil, "Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key, "code": key})
}

func TestChromiumSortsByClickAndKey(t *testing.T) {
	d, c := month()
	d.Ceilings[3].SessionsBlockedPct = nil
	b := start(t)
	b.show(1280, "light")
	b.open(d, c)
	state := func() (out struct {
		Sort  []string
		Rows  []string
		Shown int
		Said  string
		Bar   string
	}) {
		b.eval(&out, `(() => {
			const t = document.getElementById("session-list");
			return {
				sort: Array.from(t.tHead.rows[0].cells, (h) => h.getAttribute("aria-sort")),
				rows: Array.from(t.tBodies[0].rows, (r) => r.cells[0].textContent),
				shown: Array.from(t.tBodies[0].rows).filter((r) => r.offsetParent !== null).length,
				said: document.getElementById("sorted").textContent,
				bar: t.closest(".table").querySelector(".more").textContent,
			};
		})()`)
		return out
	}
	order := func(less func(a, b report.Session) int) (out []string) {
		list := slices.Clone(d.Sessions)
		slices.SortStableFunc(list, less)
		for _, s := range list {
			out = append(out, s.SessionID)
		}
		return out
	}
	check := func(what string, want []string, column int, direction string, shown int, said string) {
		t.Helper()
		got := state()
		if !slices.Equal(got.Rows, want) {
			t.Errorf("%s: rows\n got %q\nwant %q", what, got.Rows, want)
		}
		for i, s := range got.Sort {
			if is := map[bool]string{true: direction, false: "none"}[i == column]; s != is {
				t.Errorf("%s: column %d has aria-sort %s, want %s", what, i, s, is)
			}
		}
		if got.Shown != shown || got.Said != said {
			t.Errorf("%s: %d rows are shown, %q was said", what, got.Shown, got.Said)
		}
	}
	peak := func(a, b report.Session) int { return int(a.PeakOccupancy - b.PeakOccupancy) }
	down := func(a, b report.Session) int { return peak(b, a) }
	byID := func(a, b report.Session) int { return strings.Compare(a.SessionID, b.SessionID) }

	check("at first", order(func(a, b report.Session) int { return 0 }), -1, "", 20, "")
	b.eval(nil, `document.querySelector("#session-list th:nth-child(5) button").click()`)
	check("a click on the peak", order(down), 4, "descending", 20, "Sorted by Peak tokens, descending.")
	b.eval(nil, `document.querySelector("#session-list th:nth-child(5) button").focus()`)
	b.key("Enter")
	check("the enter key on the peak", order(peak), 4, "ascending", 20, "Sorted by Peak tokens, ascending.")
	b.eval(nil, `document.querySelector("#session-list th:nth-child(1) button").click()`)
	check("a click on the session", order(byID), 0, "ascending", 20, "Sorted by Session, ascending.")
	if bar := state().Bar; bar != "20 of 64 rows.Show all 64" {
		t.Errorf("below the table: %q", bar)
	}
	b.eval(nil, `document.querySelector("#session-list").closest(".table").querySelector(".more button").click()`)
	check("show all", order(byID), 0, "ascending", 64, "Sorted by Session, ascending.")

	// A cell without a figure is last both ways; the total stays below.
	for _, first := range []string{"38", "1"} {
		var got []string
		b.eval(&got, `(() => {
			document.querySelector("#ceiling-sweep th:nth-child(3) button").click();
			return Array.from(document.getElementById("ceiling-sweep").tBodies[0].rows, (r) => r.cells[2].textContent);
		})()`)
		if got[13] != "–" || (first == "38") != (got[0] > got[12] || len(got[0]) > len(got[12])) {
			t.Errorf("by sessions blocked: %q", got)
		}
	}
	var foot string
	b.eval(&foot, `document.querySelector("#by-model th:nth-child(3) button").click(), document.getElementById("by-model").tFoot.rows[0].cells[0].textContent`)
	if foot != "All" {
		t.Errorf("the last row of the models is %q", foot)
	}
	b.quiet()
}

// The choices above the charts draw something else, and no choice breaks a chart.
func TestChromiumChoices(t *testing.T) {
	b := start(t)
	b.show(1280, "light")
	b.open(month())
	for _, e := range []struct{ chart, choice, value string }{
		{"occupancy", "Time", "1"}, {"occupancy", "Session", "3"}, {"occupancy", "Time", ""}, {"turns", "Cost axis", "linear"}, {"turns", "Cost axis", "logarithmic"},
	} {
		var changed bool
		b.eval(&changed, fmt.Sprintf(`(() => {
			const canvas = document.getElementById("chart-%s");
			canvas.closest("figure").scrollIntoView({behavior: "instant"});
			const before = canvas.toDataURL();
			const label = Array.from(canvas.closest("figure").querySelectorAll(".choice label")).find((l) => l.textContent.startsWith(%q));
			const select = label.querySelector("select");
			select.value = %q;
			select.dispatchEvent(new Event("change"));
			return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(before !== canvas.toDataURL()))));
		})()`, e.chart, e.choice, e.value))
		if !changed {
			t.Errorf("%s: %s %q draws the same", e.chart, e.choice, e.value)
		}
		b.keep(fmt.Sprintf("choice-%s-%s%s.png", e.chart, strings.Fields(e.choice)[0], e.value), "Page.captureScreenshot", nil)
	}
	b.quiet()
}

func TestChromiumHostileAndEmpty(t *testing.T) {
	b := start(t)
	b.show(1280, "light")
	for name, make := range map[string]func() (report.Document, report.Charts){
		"hostile": hostileMonth,
		"empty":   func() (report.Document, report.Charts) { return report.Document{}, report.Charts{} },
		"one of each": func() (report.Document, report.Charts) {
			d, c := month()
			d.Ceilings, d.Bands, d.Cache, d.Policy, d.Recommendation = d.Ceilings[:1], d.Bands[:1], d.Cache[:1], nil, nil
			c.Occupancy, c.Turns = c.Occupancy[:1], c.Turns[:1]
			c.Occupancy[0].Points = c.Occupancy[0].Points[:1]
			return d, c
		},
		"zeros": func() (report.Document, report.Charts) {
			return report.Document{Ceilings: []report.Ceiling{{}}, Bands: []report.BandTotals{{}}, Cache: []report.CacheCause{{}}},
				report.Charts{Turns: []report.Turn{{}, {Occupancy: 5}}, Occupancy: []report.Curve{{Points: []report.Point{{At: 1}}}}}
		},
	} {
		b.open(make())
		b.keep(strings.ReplaceAll(name, " ", "-")+".png", "Page.captureScreenshot", map[string]any{"captureBeyondViewport": true})
		var title string
		b.eval(&title, `document.querySelector("h1").textContent`)
		if title != "Plimsoll report" {
			t.Errorf("%s: heading %q", name, title)
		}
		b.quiet()
	}
}
