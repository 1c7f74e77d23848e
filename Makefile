# assent: build, check and try. `make` alone lists the targets.

SHELL = /bin/sh
.DEFAULT_GOAL := help
# The steps of `make test-all` share two cores and one terminal: one after another.
.NOTPARALLEL:

GO ?= go
# VERSION overrides what the build information says, for a release.
VERSION ?=
# BIN is where programs are built; PREFIX, below DESTDIR, is where make install puts them.
BIN ?= bin
PREFIX ?= /usr/local
DESTDIR ?=
# FUZZTIME is how long `make fuzz` spends on each fuzz test.
FUZZTIME ?= 2m
# FUZZSEED makes those that run real programs try the same again.
FUZZSEED ?=
# BENCHFLAGS are handed to `go test -bench`, for example -benchtime=2s.
BENCHFLAGS ?=

# CORPUS is a folder with further cases and the scripts that run them; it need not be there.
CORPUS ?= ../shared/corpus

# Tests that stand behind a build tag are checked as well, wherever they run.
TAGS = all,e2e,mcpe2e,conformance,likebash,webe2e,teame2e
# Under the race detector a program waits at its end, a second unless it is told otherwise.
RACE = CGO_ENABLED=1 GORACE=atexit_sleep_ms=100 $(GO) test -race

.PHONY: help build install release picture test test-all checks units units-all fmt vet lint darwin fuzz-short fuzz fuzz-real like-bash soak bench corpus quiet demo need need-all e2e mcp-e2e web-e2e team-e2e team-soak conformance

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' Makefile

# Without symbols and debug information the program is a third smaller.
BUILD = CGO_ENABLED=0 $(GO) build -trimpath -ldflags "-s -w -X main.version=$(VERSION)"

build: $(BIN)/assent ## build bin/assent, bin/assent-shell for its commands, and bin/assent-hook for other agents
	@for name in assent-shell assent-hook; do \
		$(BUILD) -o $(BIN)/$$name.linked ./cmd/$$name && \
		cp $(BIN)/$$name.linked $(BIN)/$$name && rm $(BIN)/$$name.linked || exit 1; \
	done # a copy starts a tenth faster than what the linker wrote

# The go command finds out by itself what is to be done.
$(BIN)/assent: FORCE
	@[ -e $@ ] || echo "Building assent. The first time this downloads 80 MB of Go modules and compiles them:" \
		"two to five minutes on two cores. Later it takes seconds."
	@$(BUILD) -o $@ ./cmd/assent

FORCE:

install: build ## install the programs, manual pages and completions below PREFIX (/usr/local); needs no root with PREFIX=~/.local
	@BIN="$(BIN)" TO="$(DESTDIR)$(PREFIX)" sh scripts/install.sh
	@echo "Installed assent in $(DESTDIR)$(PREFIX)/bin. Next: assent doctor, then assent install"

release: ## archives for Linux and macOS with checksums in dist/, the same bytes for the same commit; set VERSION
	@GO="$(GO)" VERSION="$(VERSION)" sh scripts/release.sh

picture: $(BIN)/assent ## record a real run in a terminal and draw docs/race.svg
	@$(GO) run ./internal/picture $(BIN)/assent docs/race.svg

test: checks need units ## what every change must pass, in ten minutes on two cores
	@echo "make test: all passed"

test-all: checks need-all units-all fuzz-short mcp-e2e web-e2e team-e2e conformance ## make test, long rounds, every program of the table, MCP programs from npm, a browser, and a team
	@echo "make test-all: all passed"

checks: fmt vet lint darwin ## gofmt, vet, staticcheck, and a compile for macOS

# The tests of the command line start the program, most of them without the race detector
# anyway; under it they take three times as long, so that is left to test-all.
units: need ## the tests, under the race detector but for those of the command line
	$(RACE) -timeout 20m $$($(GO) list ./... | grep -v '/cmd/assent$$')
	CGO_ENABLED=0 $(GO) test -timeout 20m ./cmd/assent

units-all: need-all ## all tests under the race detector, with every program and more rounds
	ASSENT_SOUND=20000 ASSENT_SOUND_SEED=1 $(RACE) -tags all -timeout 40m ./...

fmt: ## fail on files that gofmt would change
	@list=$$("$$($(GO) env GOROOT)/bin/gofmt" -l .) || exit 1; \
	if [ -n "$$list" ]; then \
		printf 'not formatted; run gofmt -w on:\n%s\n' "$$list" >&2; exit 1; \
	fi

vet: ## go vet
	$(GO) vet -tags $(TAGS) ./...

lint: ## staticcheck, in the version go.mod names
	$(GO) tool staticcheck -tags $(TAGS) ./...

darwin: ## compile for macOS
	GOOS=darwin GOARCH=arm64 CGO_ENABLED=0 $(GO) build -buildvcs=false ./...

fuzz-short: ## every fuzz test for a second, and each of those that run real programs for ten
	GO="$(GO)" sh scripts/fuzz.sh 1s
	$(MAKE) --no-print-directory fuzz-real FUZZTIME=10s FUZZSEED=1

fuzz: need-all fuzz-real ## every fuzz test for FUZZTIME (2m), those that run real programs as long, and a million commands against bash
	GO="$(GO)" sh scripts/fuzz.sh $(FUZZTIME)
	ASSENT_SOUND=1000000 $(GO) test -tags all -count=1 -timeout 12h -run '^TestSound$$' ./internal/soundness

# These change texts, not trees, and run what comes out in the real programs.
FUZZREAL = ASSENT_FUZZ_TIME=$(FUZZTIME) ASSENT_FUZZ_SEED=$(FUZZSEED) $(GO) test -count=1 -p 1 -timeout 12h -v -run

fuzz-real: ## raw text against three shells and in our own, values, scripts for sed and awk, hostile repositories
	$(FUZZREAL) '^TestRaw(Text|Values)$$' ./tool/shell/subset ./tool/shell/analysis
	$(FUZZREAL) '^TestOwnShell$$' ./internal/toolbox
	$(FUZZREAL) '^(TestSedScripts|TestAwkPrograms)$$' ./tool/shell/programs
	$(FUZZREAL) '^TestHostileRepositories$$' ./tool/shell

like-bash: need-all ## real commands in bash and in our own interpreter: the same output, status and files
	$(GO) test -count=1 -tags likebash -timeout 60m -run '^Test(Mutated)?LikeBash$$' ./tool/shell/interp

soak: need-all ## all tests with their long rounds in full
	ASSENT_ROUNDS=full $(RACE) -tags all -count=1 -timeout 2h ./...

e2e: ## other agents from npm, with a model on loopback: what is denied does not run
	GO="$(GO)" sh scripts/e2e.sh

mcp-e2e: ## the gateway between MCP servers and a client from npm
	GO="$(GO)" sh scripts/mcp-e2e.sh

# What is measured needs the machine for itself: no race detector, one package after the other.
TEAMTEST = $(GO) test -count=1 -p 1 -tags all,teame2e
team-e2e: need-all ## a team on machines in network namespaces, with faults, and what its server can carry; as root
	$(TEAMTEST) -timeout 2h ./internal/team/e2e
	$(TEAMTEST) -timeout 30m -run 'Waiting|BundleReaches|AuditIntake|AnswersPerSecond' ./internal/team/server ./store/postgres

team-soak: ## team-e2e in full, with the limits of docs/scale.md; alone on the computer, for more than half an hour; as root
	ASSENT_ROUNDS=full $(MAKE) --no-print-directory team-e2e TEAMTEST='$(TEAMTEST) -v'

web-e2e: need-all ## the inbox in a real browser: every page, its manners, and attacks
	GO="$(GO)" sh scripts/web-e2e.sh

conformance: ## the official MCP suite, directly and through the gateway
	GO="$(GO)" sh scripts/conformance.sh

# A pipe hides the first command's status, so a failure travels as a FAIL line.
bench: ## benchmarks as a table
	@{ $(GO) test -run '^$$' -bench . -benchmem $(BENCHFLAGS) ./... || echo FAIL; } | $(GO) run ./internal/benchtable

corpus: build ## how commands are judged, and how many everyday ones are understood
	@$(GO) run ./internal/corpus
	@if [ -f $(CORPUS)/shell_corpus.py ]; then python3 $(CORPUS)/shell_corpus.py bin/assent; fi
	@sh scripts/probes.sh $(CORPUS) bin/assent

# QUIETFLAGS=-v lists the calls that are asked or denied.
quiet: build ## how often a person is asked in three days of an agent's work
	@$(GO) run ./internal/quiet $(QUIETFLAGS) bin/assent

demo: $(BIN)/assent ## a scripted agent tidies up notes, and asks you first
	@$(BIN)/assent demo

# Only the tests need these; assent itself has no cgo.
need:
	@GO="$(GO)" sh scripts/need.sh

need-all:
	@GO="$(GO)" sh scripts/need.sh all
