package plugin

import "testing"

// The schema is made of what the process says, over the wire.
func TestSchema(t *testing.T) {
	got, err := Schema(started(t, spec("good", "")).Describe().Definitions[0])
	want := `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "route-only",
  "description": "routes; the reason is a digest of all it has seen",
  "type": "object",
  "properties": {
    "salt": {
      "type": "string",
      "description": "goes into the digest",
      "default": "0",
      "enum": [
        "0",
        "1"
      ]
    }
  },
  "additionalProperties": false
}`
	if err != nil || string(got) != want {
		t.Errorf("the schema is %v\n%s", err, got)
	}
}
