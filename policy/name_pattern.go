package policy

// A NamePattern matches tools by name, as rules do, for config that speaks of
// tools by name.
type NamePattern struct{ compiled compiledRule }

// CompileName compiles NAME or CONNECTOR:NAME. The effect says how careful the
// match is: as an allow it does not reach a connector's tool that has taken the
// name of a built-in one.
func CompileName(effect Effect, pattern string) (NamePattern, error) {
	r := &Rule{Effect: effect, Scope: ScopeTool, Pattern: pattern, Enabled: true}
	p, err := r.compile()
	if err != nil {
		return NamePattern{}, err
	}
	if p.hasTarget {
		return NamePattern{}, r.fault(ErrMalformedRule, "a target is not taken here")
	}
	return NamePattern{compiledRule{rule: r, pattern: p}}, nil
}

// Match reports whether the pattern is about the tool.
func (p NamePattern) Match(connector, name string) bool {
	if p.compiled.rule == nil {
		return false
	}
	fold := p.compiled.rule.fold()
	return p.compiled.named(fold(connector), fold(name))
}
