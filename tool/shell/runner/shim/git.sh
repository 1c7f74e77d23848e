# Written by assent. The lines above name bash, which with -p takes neither functions
# nor options from the environment, and the real git.

refuse() {
	printf 'git: %s\n' "$1" >&2
	exit 128
}

all=("$@")
before=() # options before the subcommand that change nothing of this
own=()    # settings of the command line, which were judged with it
while [[ $# -gt 0 ]]; do
	case $1 in
	-P | --no-pager | --no-optional-locks | --no-replace-objects | --no-lazy-fetch | --no-advice | \
		--literal-pathspecs | --glob-pathspecs | --noglob-pathspecs | --icase-pathspecs | --namespace=* | --attr-source=*)
		before+=("$1")
		shift
		;;
	-C | -c | --namespace | --attr-source)
		[[ $# -ge 2 ]] || exec "$git" "${all[@]}" # which says what is missing
		if [[ $1 == -c ]]; then own+=("$1" "$2"); else before+=("$1" "$2"); fi
		shift 2
		;;
	# These print something and end.
	-v | --version | -h | --help | --exec-path | --html-path | --man-path | --info-path | --list-cmds=*)
		exec "$git" "${all[@]}"
		;;
	# With these no subcommand is free: somebody agreed to it as it stands.
	-p | --paginate | --bare | --git-dir | --git-dir=* | --work-tree | --work-tree=* | --exec-path=* | \
		--config-env | --config-env=* | --super-prefix | --super-prefix=*)
		exec "$git" "${all[@]}"
		;;
	-*) refuse "the option $1 is not known to the git that runs without being asked about; run it alone, so that it is asked about" ;;
	*) break ;;
	esac
done

case ${1-} in
status) flags=(--ignore-submodules=dirty) ;; # else git runs in each submodule, with its filters
diff | log | show) flags=(--ignore-submodules=dirty --submodule=short --no-ext-diff --no-textconv) ;;
*) exec "$git" "${all[@]}" ;; # not free: somebody agreed to it as it stands
esac
subcommand=$1
shift

# What would take the flags back, abbreviated as git allows it.
for argument; do
	case $argument in
	--) break ;;
	--ext* | --textc* | --ignore-su* | --sub* | --alternate*)
		refuse "$argument may start programs of the repository, so it does not run without being asked about"
		;;
	esac
done

# A whole new environment: no GIT_ variable, and no folder of anybody's in PATH.
clean=(
	/usr/bin/env -i PATH=/usr/bin:/bin
	GIT_OPTIONAL_LOCKS=0     # the index is not written, so no hook hears of it
	GIT_ALLOW_PROTOCOL=none  # objects that are missing are not fetched
	GIT_NO_LAZY_FETCH=1
	GIT_TERMINAL_PROMPT=0 GIT_PAGER=cat
	GIT_TRACE2=0 GIT_TRACE2_EVENT=0 GIT_TRACE2_PERF=0
)
for name in HOME XDG_CONFIG_HOME LANG LC_ALL LC_CTYPE TERM TZ ASSENT_CALL; do
	[[ -z ${!name+set} ]] || clean+=("$name=${!name}")
done

settings=(
	-c core.fsmonitor=false
	-c gpg.program=/dev/null
	-c gpg.x509.program=/dev/null
	-c gpg.ssh.program=/dev/null
	# What nothing reaches any more is turned off all the same.
	-c core.hooksPath=/dev/null
	-c core.pager=cat
	-c core.sshCommand=/dev/null
	-c credential.helper=
)
# What the command line may set without a question must not take these back.
last=(
	-c diff.autoRefreshIndex=false # diff writes the index too
	-c log.showSignature=false
	-c log.diffMerges=separate
	-c status.submoduleSummary=false
)

# Filters and merge drivers have names of the repository's choice.
keys=$("${clean[@]}" "$git" "${before[@]}" config --name-only --get-regexp '^(filter|merge)\..*\.(clean|smudge|process|driver)$')
[[ $? -le 1 ]] || exit 128 # git said why
while IFS= read -r key; do
	case $key in
	'') ;;
	*=*) refuse "the setting $key has a name that cannot be turned off" ;;
	merge.*) settings+=(-c "$key=exit 1") ;; # leaves the conflict
	*) settings+=(-c "$key=" -c "${key%.*}.required=false") ;;
	esac
done <<<"$keys"

exec "${clean[@]}" "$git" "${before[@]}" "${settings[@]}" "${own[@]}" "${last[@]}" --no-pager "$subcommand" "${flags[@]}" "$@"
