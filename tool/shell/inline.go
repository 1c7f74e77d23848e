package shell

import (
	"path"
	"strings"

	"github.com/assent-dev/assent/tool/shell/analysis"
	"github.com/assent-dev/assent/tool/shell/wire"
)

// interpreted answers the start of a shell with a text that this shell can interpret
// itself: bash -c TEXT, and a shell that is handed a here-document. What the text starts is
// then judged as well.
func (r *running) interpreted(act wire.Act) (wire.Answer, bool) {
	if act.Kind != wire.Start || !analysis.Interprets(path.Base(act.Argv[0])) || !analysis.Interprets(path.Base(act.Real)) {
		return wire.Answer{}, false
	}
	for _, entry := range act.Env {
		if name, _, _ := strings.Cut(entry, "="); name == "BASH_ENV" || name == "ENV" || name == "SHELLOPTS" || name == "BASHOPTS" {
			return wire.Answer{}, false
		}
	}
	answer := wire.Answer{Verdict: wire.Interpret, Name: act.Argv[0]}
	code := false
	args := act.Argv[1:]
	for ; len(args) > 0 && strings.HasPrefix(args[0], "-"); args = args[1:] {
		switch flag := args[0]; {
		case flag == "--":
			args = append([]string{""}, args[1:]...)
		case flag == "--norc" || flag == "--noprofile":
			continue
		case strings.Trim(flag[1:], "ceuxfvo") == "" && len(flag) > 1 && strings.Count(flag, "o") < 2 && (len(args) > 1 || !strings.Contains(flag, "o")):
			code = code || strings.Contains(flag, "c")
			if rest := strings.NewReplacer("c", "", "o", "").Replace(flag); rest != "-" {
				answer.Opts = append(answer.Opts, rest)
			}
			if strings.Contains(flag, "o") { // -euo pipefail
				answer.Opts = append(answer.Opts, "-o", args[1])
				args = args[1:]
			}
			continue
		default:
			return wire.Answer{}, false
		}
		args = args[1:]
		break
	}
	switch {
	case code && len(args) > 0:
		answer.Why, args = args[0], args[1:]
		if len(args) > 0 {
			answer.Name, args = args[0], args[1:]
		}
		answer.Params = args
	case !code && len(args) == 0 && act.Input == wire.Document:
		answer.Why = act.Text
	default:
		return wire.Answer{}, false
	}
	if r.opts.Unsupported == nil || r.opts.Unsupported(answer.Why) != "" {
		return wire.Answer{}, false
	}
	return answer, true
}
