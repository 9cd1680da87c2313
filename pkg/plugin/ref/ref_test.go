package ref_test

import (
	"reflect"
	"strings"
	"testing"

	"gatewayd/pkg/plugin/ref"
)

func TestParseChain(t *testing.T) {
	for in, want := range map[string][]ref.Ref{
		"joule":                     {{Name: "joule"}},
		"joule:mode=carbon":         {{Name: "joule", Options: map[string]string{"mode": "carbon"}}},
		"joule:mode=carbon:slack=3": {{Name: "joule", Options: map[string]string{"mode": "carbon", "slack": "3"}}},
		"sticky+p2c":                {{Name: "sticky"}, {Name: "p2c"}},
		"./Build/mine:a=b=c:d=":     {{Name: "./Build/mine", Options: map[string]string{"a": "b=c", "d": ""}}},
		"/opt/x:n=1+least-busy":     {{Name: "/opt/x", Options: map[string]string{"n": "1"}}, {Name: "least-busy"}},
	} {
		got, err := ref.ParseChain(in)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("ParseChain(%q) = %v, %v, want %v", in, got, err, want)
		}
		var again []string
		for _, r := range got {
			again = append(again, r.String())
		}
		if s := strings.Join(again, "+"); s != in {
			t.Errorf("ParseChain(%q) reads back as %q", in, s)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for in, want := range map[string]string{
		"":                "neither a name",
		"Joule":           "neither a name",
		"joule-":          "neither a name",
		"a+":              `chain "a+"`,
		"joule:mode":      `option "mode" is not of the form key=value`,
		"joule:=x":        `option "=x" is not of the form key=value`,
		"joule::a=1":      `option "" is not`,
		"joule:a=1:a=2":   `option "a" is given twice`,
		"p2c+joule:slack": `chain "p2c+joule:slack": strategy "joule:slack"`,
	} {
		if _, err := ref.ParseChain(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseChain(%q) = %v, want an error with %q", in, err, want)
		}
	}
}
