package config

import (
	"fmt"
	"strings"
)

const (
	maxModelAliases = 4096
	maxModelName    = 1024 // bytes
)

// What Config.Usage may be.
const (
	UsageActive  = "active"
	UsagePassive = "passive"
)

// aliases checks the further names of models.
func aliases(c Config, p *problems) {
	if len(c.Aliases) > maxModelAliases {
		p.at("aliases", fmt.Sprintf("there are more than %d aliases", maxModelAliases), "")
	}
	for _, alias := range sortedKeys(c.Aliases) {
		at, model := join("aliases", alias), c.Aliases[alias]
		if !isModel(alias) || !isModel(model) {
			p.at("aliases", quote(alias)+" or what it stands for is no name of a model", modelHint)
		} else if _, chained := c.Aliases[model]; chained {
			p.at(at, quote(model)+" is an alias itself", "name the model that it stands for")
		}
	}
}

// names checks what a worker calls its models.
func (w Worker) names(path string, p *problems) {
	by := map[string]string{}
	for _, model := range sortedKeys(w.Names) {
		at, own := join(path+".names", model), w.Names[model]
		if !isModel(model) || !isModel(own) {
			p.at(path+".names", quote(model)+" or the worker's name for it is no name of a model", modelHint)
		} else if other, twice := by[own]; twice {
			p.at(at, quote(own)+" is the worker's name for "+quote(other)+" already", "name one of them here, and the other under aliases")
		}
		by[own] = model
	}
}

const modelHint = "a name of a model has 1 to 1024 bytes, and none of them is a control character"

func isModel(s string) bool {
	return s != "" && len(s) <= maxModelName && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}
