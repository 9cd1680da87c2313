package plugin

import (
	"encoding/json"

	"gatewayd/pkg/router"
)

// Schema returns the JSON Schema (draft 2020-12) of a strategy's options, as a
// config writes them: an object of texts. A strategy checks more than that when
// an instance is opened.
func Schema(d router.Definition) ([]byte, error) {
	type property struct {
		Type        string   `json:"type"`
		Description string   `json:"description,omitempty"`
		Default     string   `json:"default"`
		Enum        []string `json:"enum,omitempty"`
	}
	properties := make(map[string]property, len(d.Options))
	for _, o := range d.Options {
		properties[o.Name] = property{"string", o.Help, o.Default, o.Values}
	}
	return json.MarshalIndent(struct {
		Schema      string              `json:"$schema"`
		Title       string              `json:"title"`
		Description string              `json:"description,omitempty"`
		Type        string              `json:"type"`
		Properties  map[string]property `json:"properties"`
		Additional  bool                `json:"additionalProperties"`
	}{"https://json-schema.org/draft/2020-12/schema", d.Name, d.Summary, "object", properties, false}, "", "  ")
}
