package zone

import (
	"fmt"
	"testing"

	"plimsoll/internal/rawjson"
)

func TestWorse(t *testing.T) {
	all := []Word{Smart, Acceptable, Dumb, Unknown}
	for _, a := range all {
		for _, b := range all {
			got := Worse(a, b)
			switch {
			case a == Unknown && got != b, b == Unknown && got != a:
				t.Errorf("Worse(%s, %s) = %s: one that is computable stands alone", a, b, got)
			case a != Unknown && b != Unknown && got.Rank() != max(a.Rank(), b.Rank()):
				t.Errorf("Worse(%s, %s) = %s", a, b, got)
			}
		}
	}
}

func TestAtLeast(t *testing.T) {
	for version, want := range map[string]bool{
		"2.1.132": true, "2.1.131": false, "2.1.133": true, "2.2": true, "3": true, "2.1": false, "2.1.132.0": true, "2.1.132.1": true,
		"2.1.131.9": false, "02.001.0132": true, "10.0.0": true, "1.99.999": false, "": false, ".": false, "2..132": false, "2.1.132-beta": false,
		"v2.1.200": false, " 2.1.200": false, "99999999999999999999.0": true, "2.1.00000000000000000000132": true, "٢.١.٢٠٠": false,
	} {
		if got := atLeast(version, TokenFloor); got != want {
			t.Errorf("atLeast(%q) = %v", version, got)
		}
	}
}

func TestBecause(t *testing.T) {
	for _, c := range []struct{ window, want string }{
		{`{"used_percentage":8,"current_usage":{}}`, "8% of the window, up to 50% is smart"},
		{`{"used_percentage":76.5,"current_usage":{}}`, "76.5% of the window, past 75% is dumb"},
		{`{"used_percentage":8,"current_usage":{},"total_input_tokens":119000,"total_output_tokens":1500,"context_window_size":200000}`, "120.5k tokens, past 100k is acceptable"},
		{`{"used_percentage":80,"current_usage":{},"total_input_tokens":119000,"total_output_tokens":1500,"context_window_size":200000}`, "80% of the window, past 75% is dumb"},
		{`{"used_percentage":null,"current_usage":null}`, NotMeasured},
		{`{"used_percentage":null,"current_usage":{}}`, NoShapeStands},
	} {
		v, err := rawjson.Parse([]byte(c.window))
		if err != nil {
			t.Fatal(err)
		}
		bands := Default()
		if got := Read(v, rawjson.Value(`"2.1.200"`), bands).Because(bands); got != c.want {
			t.Errorf("%s\nbecause %q, want %q", c.window, got, c.want)
		}
	}
}

func TestFormatTokens(t *testing.T) {
	for n, want := range map[float64]string{0: "0", 999: "999", 1000: "1k", 1049: "1k", 1050: "1.1k", 15075: "15.1k", 200_000: "200k", 999_949: "999.9k", 999_950: "1M", 1_250_000: "1.3M"} {
		if got := FormatTokens(n); got != want {
			t.Errorf("FormatTokens(%v) = %s, want %s", n, got, want)
		}
	}
}

// More tokens are never a better zone, in any window, on either shape.
func TestZonesAreMonotonic(t *testing.T) {
	for _, size := range []int{200_000, 500_000, 1_000_000, 2_000_000} {
		worst := 0
		for used := 0; used <= size; used += size / 400 {
			text := fmt.Sprintf(`{"current_usage":{},"used_percentage":%g,"total_input_tokens":%d,"total_output_tokens":0,"context_window_size":%d}`,
				float64(used)*100/float64(size), used, size)
			v, err := rawjson.Parse([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			word := Read(v, rawjson.Value(`"2.1.200"`), Default()).Word
			if word == Unknown || word.Rank() < worst {
				t.Fatalf("%s: %s after rank %d", text, word, worst)
			}
			worst = word.Rank()
		}
		if worst != Dumb.Rank() {
			t.Errorf("a full window of %d is never dumb", size)
		}
	}
}
