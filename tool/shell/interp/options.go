package interp

import (
	"slices"
	"strings"
)

// options are what set and shopt switch. Those without a field of their own have no
// effect in a shell that nobody types into, or are not supported.
type options struct {
	allexport, braceexpand, errexit, errtrace, functrace, noclobber, noexec, noglob, nounset, physical bool
	pipefail, verbose, xtrace                                                                          bool

	dotglob, expandAliases, extglob, failglob, globskipdots, globstar, inheritErrexit, lastpipe, nocaseglob bool
	nocasematch, nullglob, patsubReplacement, sourcepath, xpgEcho, shiftVerbose                             bool

	others map[string]bool // what has no effect here, if it is not as at the start
}

type option struct {
	name  string
	flag  byte // as in set -e; 0 if it has none
	at    func(*options) *bool
	on    bool // at the start
	fixed bool // switching it would need what is not supported
}

var setOptions = []option{
	{name: "allexport", flag: 'a', at: func(o *options) *bool { return &o.allexport }},
	{name: "braceexpand", flag: 'B', at: func(o *options) *bool { return &o.braceexpand }, on: true},
	{name: "emacs"},
	{name: "errexit", flag: 'e', at: func(o *options) *bool { return &o.errexit }},
	{name: "errtrace", flag: 'E', at: func(o *options) *bool { return &o.errtrace }},
	{name: "functrace", flag: 'T', at: func(o *options) *bool { return &o.functrace }},
	{name: "hashall", flag: 'h', on: true},
	{name: "histexpand", flag: 'H'},
	{name: "history"},
	{name: "ignoreeof"},
	{name: "interactive-comments", on: true},
	{name: "keyword", flag: 'k', fixed: true},
	{name: "monitor", flag: 'm', fixed: true},
	{name: "noclobber", flag: 'C', at: func(o *options) *bool { return &o.noclobber }},
	{name: "noexec", flag: 'n', at: func(o *options) *bool { return &o.noexec }},
	{name: "noglob", flag: 'f', at: func(o *options) *bool { return &o.noglob }},
	{name: "nolog"},
	{name: "notify", flag: 'b'},
	{name: "nounset", flag: 'u', at: func(o *options) *bool { return &o.nounset }},
	{name: "onecmd", flag: 't', fixed: true},
	{name: "physical", flag: 'P', at: func(o *options) *bool { return &o.physical }},
	{name: "pipefail", at: func(o *options) *bool { return &o.pipefail }},
	{name: "posix", fixed: true},
	{name: "privileged", flag: 'p', fixed: true},
	{name: "verbose", flag: 'v', at: func(o *options) *bool { return &o.verbose }},
	{name: "vi"},
	{name: "xtrace", flag: 'x', at: func(o *options) *bool { return &o.xtrace }},
}

var shoptOptions = []option{
	{name: "autocd"},
	{name: "assoc_expand_once"},
	{name: "cdable_vars", fixed: true},
	{name: "cdspell"},
	{name: "checkhash"},
	{name: "checkjobs"},
	{name: "checkwinsize", on: true},
	{name: "cmdhist", on: true},
	{name: "compat31", fixed: true},
	{name: "compat32", fixed: true},
	{name: "compat40", fixed: true},
	{name: "compat41", fixed: true},
	{name: "compat42", fixed: true},
	{name: "compat43", fixed: true},
	{name: "compat44", fixed: true},
	{name: "complete_fullquote", on: true},
	{name: "direxpand"},
	{name: "dirspell"},
	{name: "dotglob", at: func(o *options) *bool { return &o.dotglob }},
	{name: "execfail", fixed: true},
	{name: "expand_aliases", at: func(o *options) *bool { return &o.expandAliases }},
	{name: "extdebug", fixed: true},
	{name: "extglob", at: func(o *options) *bool { return &o.extglob }},
	{name: "extquote", on: true},
	{name: "failglob", at: func(o *options) *bool { return &o.failglob }},
	{name: "force_fignore", on: true},
	{name: "globasciiranges", on: true},
	{name: "globskipdots", at: func(o *options) *bool { return &o.globskipdots }, on: true},
	{name: "globstar", at: func(o *options) *bool { return &o.globstar }},
	{name: "gnu_errfmt", fixed: true},
	{name: "histappend"},
	{name: "histreedit"},
	{name: "histverify"},
	{name: "hostcomplete", on: true},
	{name: "huponexit"},
	{name: "inherit_errexit", at: func(o *options) *bool { return &o.inheritErrexit }},
	{name: "interactive_comments", on: true},
	{name: "lastpipe", at: func(o *options) *bool { return &o.lastpipe }},
	{name: "lithist"},
	{name: "localvar_inherit", fixed: true},
	{name: "localvar_unset", fixed: true},
	{name: "login_shell", fixed: true},
	{name: "mailwarn"},
	{name: "no_empty_cmd_completion"},
	{name: "nocaseglob", at: func(o *options) *bool { return &o.nocaseglob }},
	{name: "nocasematch", at: func(o *options) *bool { return &o.nocasematch }},
	{name: "noexpand_translation"},
	{name: "nullglob", at: func(o *options) *bool { return &o.nullglob }},
	{name: "patsub_replacement", at: func(o *options) *bool { return &o.patsubReplacement }, on: true},
	{name: "progcomp", on: true},
	{name: "progcomp_alias"},
	{name: "promptvars", on: true},
	{name: "restricted_shell", fixed: true},
	{name: "shift_verbose", at: func(o *options) *bool { return &o.shiftVerbose }},
	{name: "sourcepath", at: func(o *options) *bool { return &o.sourcepath }, on: true},
	{name: "varredir_close", fixed: true},
	{name: "xpg_echo", at: func(o *options) *bool { return &o.xpgEcho }},
}

func newOptions() options {
	var o options
	for _, list := range [][]option{setOptions, shoptOptions} {
		for _, opt := range list {
			if opt.at != nil {
				*opt.at(&o) = opt.on
			}
		}
	}
	return o
}

func (o *options) is(opt option) bool {
	if opt.at != nil {
		return *opt.at(o)
	}
	if on, ok := o.others[opt.name]; ok {
		return on
	}
	return opt.on
}

// turn switches an option, and reports whether that is supported.
func (o *options) turn(opt option, on bool) bool {
	switch {
	case o.is(opt) == on:
	case opt.fixed:
		return false
	case opt.at != nil:
		*opt.at(o) = on
	default:
		others := map[string]bool{opt.name: on} // never changed in place: subshells share it
		for name, was := range o.others {
			if name != opt.name {
				others[name] = was
			}
		}
		o.others = others
	}
	return true
}

func optionNamed(list []option, name string) (option, bool) {
	i := slices.IndexFunc(list, func(o option) bool { return o.name == name })
	if i < 0 {
		return option{}, false
	}
	return list[i], true
}

func optionFlagged(flag byte) (option, bool) {
	i := slices.IndexFunc(setOptions, func(o option) bool { return o.flag == flag && flag != 0 })
	if i < 0 {
		return option{}, false
	}
	return setOptions[i], true
}

// flags is $-, in bash's order.
func (o *options) flags() string {
	var sb strings.Builder
	for _, flag := range []byte("abefhkmnptuvxBCEHPT") {
		if opt, ok := optionFlagged(flag); ok && o.is(opt) {
			sb.WriteByte(flag)
		}
	}
	return sb.String()
}

// list is SHELLOPTS or BASHOPTS.
func (o *options) list(opts []option) string {
	var names []string
	for _, opt := range opts {
		if o.is(opt) {
			names = append(names, opt.name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ":")
}
