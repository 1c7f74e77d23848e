package approval

import "sync"

// builtinTools are the built-in tools whose names are not acts. An allow for
// one of them never reaches a connector's tool of that name.
var builtinTools = map[string]bool{
	"edit_file": true, "list_files": true, "search_files": true, "move_file": true,
	"copy_file": true, "make_dir": true, "file_info": true, "list_workers": true,
}

// An indexBuilder files the rules of one effect.
type indexBuilder struct {
	rules     []compiledRule
	byName    map[nameKey][]int32
	globs     []gramEntry
	conns     map[string][]int32
	connGlobs []gramEntry
}

func (b *indexBuilder) add(r *Rule, p pattern) {
	id := int32(len(b.rules))
	b.rules = append(b.rules, compiledRule{rule: r, pattern: p})
	if p.connectorOnly {
		b.addConnector(id, p)
		return
	}
	name, exact := p.name.literal()
	connector := everyConnector
	if !p.anyConnector {
		var exactConnector bool
		connector, exactConnector = p.connector.literal()
		exact = exact && exactConnector
	}
	if !exact {
		b.globs = append(b.globs, gramEntry{id: id, texts: p.name.plainTexts()})
		return
	}
	if b.byName == nil {
		b.byName = make(map[nameKey][]int32)
	}
	key := nameKey{connector, name}
	b.byName[key] = append(b.byName[key], id)
}

func (b *indexBuilder) addConnector(id int32, p pattern) {
	name, exact := p.connector.literal()
	if !exact {
		b.connGlobs = append(b.connGlobs, gramEntry{id: id, texts: p.connector.plainTexts()})
		return
	}
	if b.conns == nil {
		b.conns = make(map[string][]int32)
	}
	b.conns[name] = append(b.conns[name], id)
}

func (b *indexBuilder) build() index {
	x := index{
		rules:      b.rules,
		byName:     make(map[nameKey]*bucket, len(b.byName)),
		globs:      newGramIndex(b.globs),
		connectors: b.conns,
		connGlobs:  newGramIndex(b.connGlobs),
		hasConn:    len(b.conns)+len(b.connGlobs) > 0,
	}
	for key, ids := range b.byName {
		x.byName[key] = b.bucket(ids)
	}
	return x
}

func (b *indexBuilder) bucket(ids []int32) *bucket {
	out := &bucket{all: ids, programs: make(map[string][]int32, len(ids)), hosts: map[string][]int32{}}
	var targets []int32
	for _, id := range ids {
		p := &b.rules[id].pattern
		if p.bare() {
			out.bare = append(out.bare, id)
			continue
		}
		if p.words != nil {
			program := programOf(p.words.words[0])
			out.programs[program] = append(out.programs[program], id)
		}
		if p.url != nil {
			host := p.url.host
			if host[0] == '*' {
				host = ""
			}
			out.hosts[host] = append(out.hosts[host], id)
		}
		targets = append(targets, id)
	}
	out.targets = sync.OnceValue(func() *gramIndex { return b.byTarget(targets) })
	return out
}

// byTarget files rules by what stands in their targets.
func (b *indexBuilder) byTarget(ids []int32) *gramIndex {
	entries := make([]gramEntry, len(ids))
	for i, id := range ids {
		entries[i] = gramEntry{id: id, texts: b.rules[id].pattern.targetTexts()}
	}
	x := newGramIndex(entries)
	return &x
}

// targetTexts returns plain texts that stand in whatever the target matches, be
// it read as a path or as text. What a path needs, the text needs too.
func (p *pattern) targetTexts() []string {
	if p.path != nil {
		return p.path.plainTexts()
	}
	return p.text.plainTexts()
}
