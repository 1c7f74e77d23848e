package rulebook

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/assent-dev/assent/internal/agents/words"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/policy"
)

// Words that begin a comment with a meaning.
const (
	idWord       = "id"
	becauseWord  = "because"
	noteWord     = "note"
	createdWord  = "created"
	projectWord  = "project"
	ruleWord     = "rule"
	disabledWord = "disabled"
	untilWord    = "until "
)

// Write writes rules as a policy file has them. A rule that is disabled, ends some day or is for one
// project is a comment there, because a policy file could not say that.
func Write(w io.Writer, rules []policy.Rule) error {
	var body bytes.Buffer
	head := "rules: []\n"
	for i := range rules {
		if plain(&rules[i]) {
			head = "rules:\n"
		}
		write(&body, &rules[i])
	}
	_, err := io.WriteString(w, head+body.String())
	return err
}

// plain reports whether a policy file can say what the rule says.
func plain(r *policy.Rule) bool { return r.Enabled && r.Expires.IsZero() && r.Project == "" }

func write(b *bytes.Buffer, r *policy.Rule) {
	remark := func(word, text string) {
		if text != "" {
			fmt.Fprintf(b, "  # %s: %s\n", word, oneLine(text))
		}
	}
	remark(idWord, r.ID)
	if !r.Created.IsZero() {
		remark(createdWord, r.Created.UTC().Format(time.RFC3339Nano))
	}
	remark(becauseWord, r.Because)
	remark(noteWord, r.Note)
	remark(projectWord, r.Project)
	if plain(r) {
		fmt.Fprintf(b, "  - %s\n", scalar(r.String()))
		return
	}
	word := ""
	if !r.Enabled {
		word = disabledWord
	}
	if !r.Expires.IsZero() {
		word = strings.TrimSpace(word + " " + untilWord + r.Expires.UTC().Format(time.RFC3339Nano))
	}
	remark(cmp.Or(word, ruleWord), r.String())
}

// oneLine writes a text so that it stays one line and keeps its spaces.
func oneLine(text string) string {
	prints := strconv.CanBackquote(strings.ReplaceAll(text, "`", ""))
	if prints && strings.TrimSpace(text) == text && !strings.HasPrefix(text, `"`) {
		return text
	}
	return quoted(text)
}

func quoted(text string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // a text can always be encoded
	return strings.TrimSuffix(b.String(), "\n")
}

// scalar writes a rule as YAML reads it back.
func scalar(text string) string {
	if strings.Contains(text, ": ") || strings.Contains(text, " #") || strings.HasSuffix(text, ":") ||
		strings.ContainsAny(text, "\t\"'\\") || oneLine(text) != text {
		return quoted(text)
	}
	return text
}

// Parse reads what [Write] wrote, or the rules of any policy file; file is its name in
// errors. Rules without a remark about it have no id.
func Parse(file string, data []byte) ([]policy.Rule, error) {
	conf, err := config.Load(file, data, "/")
	if err != nil {
		return nil, err
	}
	at := map[int]policy.Rule{}
	for _, r := range conf.Rules.Rules() {
		if r.Effect == policy.EffectExcept {
			return nil, fmt.Errorf("%s: an exception belongs to the policy file that denies, and cannot be saved; "+
				"take it out of the file", r.Source)
		}
		line, err := strconv.Atoi(r.Source[strings.LastIndexByte(r.Source, ':')+1:])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.Source, err)
		}
		r.ID, r.Source = "", ""
		at[line] = r
	}
	p := parsing{file: file, at: at}
	for i, line := range strings.Split(string(data), "\n") {
		p.line(i+1, strings.TrimSpace(line))
	}
	return p.out, errors.Join(p.errs...)
}

// parsing reads a file line by line: remarks stand right above their rule.
type parsing struct {
	file string
	at   map[int]policy.Rule // by line
	next policy.Rule         // what was said of the next rule
	out  []policy.Rule
	errs []error
}

func (p *parsing) line(number int, text string) {
	if rule, ok := p.at[number]; ok {
		p.add(number, rule)
		return
	}
	comment, ok := strings.CutPrefix(text, "#")
	word, value, hasValue := strings.Cut(strings.TrimSpace(comment), ": ") // a time has colons, too
	if !ok || !hasValue || !p.remark(number, word, value) {
		p.next = policy.Rule{}
	}
}

func (p *parsing) remark(number int, word, value string) bool {
	value = plainText(value)
	switch word {
	case idWord:
		p.next.ID = value
	case becauseWord:
		p.next.Because = value
	case noteWord:
		p.next.Note = value
	case projectWord:
		p.next.Project = value
	case createdWord:
		p.next.Created = p.time(number, value)
	default:
		return p.commented(number, word, value)
	}
	return true
}

// commented reads a rule that is disabled, ends some day or is for one project.
func (p *parsing) commented(number int, word, text string) bool {
	rest, disabled := strings.CutPrefix(word, disabledWord)
	until, ends := strings.CutPrefix(strings.TrimSpace(rest), untilWord)
	forProject := word == ruleWord && p.next.Project != ""
	if !disabled && !ends && !forProject || disabled && !ends && rest != "" {
		return false
	}
	rule, err := parseRule(text)
	if err != nil {
		p.errs = append(p.errs, fmt.Errorf("%s:%d: %w", p.file, number, err))
		return false
	}
	if rule.Enabled = !disabled; ends {
		rule.Expires = p.time(number, until)
	}
	p.add(number, rule)
	return true
}

// parseRule reads a rule, and refuses one in the words of another agent with the spelling that works.
func parseRule(text string) (policy.Rule, error) {
	if err := words.Refuse(text); err != nil {
		return policy.Rule{}, err
	}
	return config.ParseRule(text)
}

func (p *parsing) add(number int, rule policy.Rule) {
	said := p.next
	rule.ID, rule.Because, rule.Note, rule.Created = said.ID, said.Because, said.Note, said.Created
	rule.Project = said.Project
	if err := rule.Validate(); err != nil {
		p.errs = append(p.errs, fmt.Errorf("%s:%d: %w", p.file, number, err))
	}
	p.out = append(p.out, rule)
	p.next = policy.Rule{}
}

func (p *parsing) time(number int, text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		err = fmt.Errorf("%s:%d: invalid time %q: write it like 2026-12-31T18:00:00Z", p.file, number, text)
		p.errs = append(p.errs, err)
	}
	return t
}

func plainText(value string) string {
	var text string
	if strings.HasPrefix(value, `"`) && json.Unmarshal([]byte(value), &text) == nil {
		return text
	}
	return value
}

// document is the JSON form: it says everything.
type document struct {
	Rules []policy.Rule `json:"rules"`
}

// WriteJSON writes the rules with all that is known about them.
func WriteJSON(w io.Writer, rules []policy.Rule) error {
	if rules == nil {
		rules = []policy.Rule{}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(document{rules})
}

// Read reads rules in either form; file is their name in errors.
func Read(file string, data []byte) ([]policy.Rule, error) {
	if !bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		return Parse(file, data)
	}
	var d document
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&d); err != nil {
		return nil, fmt.Errorf("%s: %w; use the format of 'assent rules export --format json'", file, err)
	}
	for i, r := range d.Rules {
		if err := r.Validate(); err != nil {
			return nil, fmt.Errorf("%s: rule %d: %w", file, i+1, err)
		}
		d.Rules[i].Source = ""
	}
	return d.Rules, nil
}
