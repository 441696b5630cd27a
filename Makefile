# gslb: `make help` lists the targets. Needs Go 1.26, git and make; what else a
# target wants it installs under .tools/ through the Go module proxy.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

MODULES  := shared overwatch agent gslbctl packaging/launcher packaging/release integration integration/bench
PROGRAMS := gslb-overwatch gslb-agent gslbctl gslb
GOLANGCI := .tools/golangci-lint-v2.15.0
ACTIONLINT := .tools/actionlint-v1.7.12
GO       ?= go

# The version of all programs: that of the newest tag vX.Y.Z, or of the file VERSION if this is newer.
VERSION  := $(shell packaging/version.sh)
COMMIT   := $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
# The commit's own time, so that two builds of one commit are the same bytes.
DATE     := $(shell TZ=UTC0 git log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd 2>/dev/null || \
              echo 1970-01-01T00:00:00Z)
INFO     := gslb.internal/shared/buildinfo
LDFLAGS  := -s -w -X $(INFO).version=$(VERSION) -X $(INFO).commit=$(COMMIT) -X $(INFO).date=$(DATE)

main_gslb-overwatch   := ./overwatch/cmd/gslb-overwatch
main_gslb-agent       := ./agent/cmd/gslb-agent
main_gslbctl          := ./gslbctl/cmd/gslbctl
main_gslb             := ./packaging/launcher

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z][a-z-]*:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-17s %s\n", $$1, $$2}'

.PHONY: check-tools
check-tools:
	@command -v $(GO) >/dev/null || \
	  { echo "Go is missing: install Go 1.26 or later from https://go.dev/dl/ and put it on PATH"; exit 1; }
	@command -v git >/dev/null || \
	  { echo "git is missing: install it with your package manager (Debian: apt-get install git)"; exit 1; }

.PHONY: build
build: check-tools ## build gslb-overwatch, gslb-agent, gslbctl and gslb into bin/
	@mkdir -p bin
	@for p in $(PROGRAMS); do $(MAKE) --no-print-directory bin/$$p || exit 1; done

.PHONY: $(addprefix bin/,$(PROGRAMS))
$(addprefix bin/,$(PROGRAMS)): bin/%:
	@CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false -ldflags '$(LDFLAGS)' -o $@ $(main_$*)

.PHONY: run
run: build ## start a demo cluster on loopback and watch failover live (Linux)
	@$(GO) run ./integration/cmd/demo -bin bin

# What the tests are and in which order they run is in integration/cmd/test/plan.go. ONLY=<steps> runs some of them,
# with a comma between; the name of each is in what is printed.
ONLY   ?=
LENGTH ?=
run_tests = $(GO) run ./integration/cmd/test $(if $(ONLY),-only "$(ONLY)") $(if $(LENGTH),-length $(LENGTH))

.PHONY: test
test: check-tools ## vet, unit tests, three tests with real processes
	@$(run_tests) quick

.PHONY: test-all
# AFTER=test leaves out what `make test` ran already.
AFTER ?=
test-all: build ## run all tests: `make test`, the race detector, and all tests with real processes
	@$(run_tests) -bin "$(CURDIR)/bin" $(if $(AFTER),rest,all)

.PHONY: test-integration
test-integration: ## of these the tests with real processes only
	@$(MAKE) --no-print-directory test-all ONLY=smoke,integration,work,bench

.PHONY: test-long
# LENGTH is that of a soak or a fuzz target, which have no end of their own.
test-long: build ## soak, floods, fleets, upgrades, kills by the thousand, fuzzing: two hours (LENGTH=10m, ONLY=soak)
	@$(run_tests) -bin "$(CURDIR)/bin" long

.PHONY: scale
SCALE ?= integration/bench/plots
scale: build ## 100 000 names, 10 000 agents, three nodes; plots into SCALE (Linux, some minutes)
	@mkdir -p $(SCALE); ulimit -n 20000 && cd integration/bench && GSLB_BIN="$(CURDIR)/bin" \
	  $(GO) test -count=1 -timeout 40m -v -run 'TestScale' ./scale -plots=$(abspath $(SCALE))

.PHONY: scale-nodes
scale-nodes: check-tools ## what 2 to 100 nodes cost one another, simulated, for overwatch/docs/scale.md
	@$(GO) run ./integration/bench/nodes -out $(SCALE)

.PHONY: fuzz
FUZZTIME ?= 10s
fuzz: check-tools ## run every fuzz target for FUZZTIME (10s)
	@$(GO) run ./integration/cmd/fuzz -time $(FUZZTIME) $(MODULES)

.PHONY: bench
bench: check-tools bench-go ## the Go benchmarks, then a short bench-dns
	@$(MAKE) --no-print-directory bench-dns BENCHFLAGS="-rounds 1 -seconds 1 -names 10"

.PHONY: bench-go
bench-go: check-tools ## run the Go benchmarks of the latency and rate promises
	@for m in overwatch shared agent; do \
	  (cd $$m && $(GO) test -run '^$$' -bench . -benchmem ./... | grep -vE 'no test files|^ok|^PASS') || exit 1; done

.PHONY: bench-times
bench-times: build ## check the documented maximum times with real processes (on an idle machine)
	@GSLB_TIMED=1 $(run_tests) -bin "$(CURDIR)/bin" -only integration rest
	@GSLB_TIMED=1 $(run_tests) -bin "$(CURDIR)/bin" -only work,bench rest

.PHONY: bench-dns
BENCHFLAGS   ?=
DEBIAN_INSTALL := apt-get update -qq && RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive \
                  apt-get install -y -qq --no-install-recommends
BENCH_DEBIAN := gdnsd nsd knot pdns-server pdns-backend-bind ldnsutils
bench-dns: build ## CPU time per DNS query beside gdnsd, NSD, Knot and PowerDNS (BENCHFLAGS=-h for its flags; Linux)
	@missing=; for p in gdnsd nsd knotd pdns_server ldns-signzone; do \
	    PATH=$$PATH:/usr/sbin command -v $$p >/dev/null || missing="$$missing $$p"; done; \
	  if [ -n "$$missing" ]; then if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "installing what is missing:$$missing"; \
	    $(DEBIAN_INSTALL) $(BENCH_DEBIAN); \
	  else echo "note: not installed and therefore skipped:$$missing (Debian: apt-get install $(BENCH_DEBIAN))"; fi; fi
	@PATH=$$PATH:/usr/sbin $(GO) run ./integration/bench -bin bin $(BENCHFLAGS)

.PHONY: bench-scale
bench-scale: build ## 10, 1 000 and 100 000 names side by side: CPU per query, first answer, memory (Linux)
	@$(GO) run ./integration/bench -bin bin -flat -servers gslb-weighted,gslb-geolocation,gslb-signed \
	  -rounds 12 -seconds 0.5 $(BENCHFLAGS)

.PHONY: bench-changes
bench-changes: build ## what changes of health cost a node of 100 000 names, and what clients see of them (Linux)
	@$(GO) run ./integration/bench -bin bin -changes -names 100000 -rounds 3 -seconds 4 $(BENCHFLAGS)

.PHONY: bench-replication
bench-replication: build ## a change on three nodes, 10 000 objects on a wiped one, an idle cluster (Linux)
	@$(GO) run ./integration/bench -bin bin -replication 10000 $(BENCHFLAGS)

.PHONY: bench-restart
bench-restart: build ## restart a node twice under 50 000 queries a second by dnsperf: none may be lost (Linux)
	@if ! command -v dnsperf >/dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  $(DEBIAN_INSTALL) dnsperf; fi
	@$(GO) run ./integration/bench -bin bin -restart 50000

.PHONY: bench-failover
bench-failover: build ## time from a fault to the last wrong answer: gslb, gdnsd, PowerDNS (Linux, root or userns)
	@$(GO) run ./integration/bench -bin bin -failover -rounds 3 $(BENCHFLAGS)

.PHONY: bench-cold
bench-cold: build ## restart one of three nodes without a service manager: how long its address is closed (Linux)
	@$(GO) run ./integration/bench -bin bin -cold 6 $(BENCHFLAGS)

.PHONY: bench-overload
bench-overload: build ## overload a node that has 3 % of a core, and freeze it: what is answered, and when (Linux, root)
	@$(GO) run ./integration/bench -bin bin -overload 0.03 -rounds 2 -seconds 2.5 $(BENCHFLAGS)

$(GOLANGCI):
	@echo "building golangci-lint $(@:.tools/golangci-lint-%=%) into .tools/ (once, some minutes)"
	@GOWORK=off GOFLAGS= GOBIN="$(CURDIR)/.tools" \
	  $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(@:.tools/golangci-lint-%=%)
	@mv .tools/golangci-lint $@

$(ACTIONLINT):
	@echo "building actionlint $(@:.tools/actionlint-%=%) into .tools/ (once)"
	@GOWORK=off GOFLAGS= GOBIN="$(CURDIR)/.tools" \
	  $(GO) install github.com/rhysd/actionlint/cmd/actionlint@$(@:.tools/actionlint-%=%)
	@mv .tools/actionlint $@

.PHONY: hooks
hooks: check-tools ## check format, vet and the commit subject at each `git commit`
	@git config core.hooksPath .githooks

.PHONY: lint-commits
# The subjects since the last change of the rule.
lint-commits: check-tools
	@last=$$(git log -1 --format=%H -- .githooks/subject.sh); \
	  [ -z "$$last" ] || git log --format=%s "$$last^..HEAD" | .githooks/subject.sh

.PHONY: lint-prose
# Terms and phrases in documents, comments and messages: go run ./integration/cmd/prose FILE explains each.
lint-prose: check-tools
	@$(GO) run ./integration/cmd/prose

.PHONY: lint
lint: check-tools lint-commits lint-prose $(GOLANGCI) $(ACTIONLINT) ## golangci-lint, actionlint, language, commits
	@$(ACTIONLINT) -color=false
	@failed=; for m in $(MODULES); do echo "== lint $$m"; \
	  (cd $$m && "$(CURDIR)/$(GOLANGCI)" run --allow-parallel-runners --config "$(CURDIR)/.golangci.yml" ./...) || \
	  failed="$$failed $$m"; done; \
	  if [ -n "$$failed" ]; then echo "failed:$$failed"; exit 1; fi

.PHONY: vulncheck
vulncheck: check-tools ## look for known vulnerabilities (asks vuln.go.dev)
	@for m in $(MODULES); do (cd $$m && $(GO) run golang.org/x/vuln/cmd/govulncheck@v1.1.4 ./...) || exit 1; done

.PHONY: dist
DISTFLAGS ?=
dist: check-tools ## archives, deb and rpm packages, bills of materials and checksums in dist/
	@$(GO) run ./packaging/release -out dist -version $(VERSION) -commit $(COMMIT) -date $(DATE) $(DISTFLAGS)

.PHONY: docs
# DOCS_REPOSITORY is the URL of the public repository, for links to sources. DOCS_BASE is the path of the site, such as
# /1.0.0/ for an older version, and DOCS_ROOT that of all versions. `npm run preview` in site/ serves the result.
docs: ## build the documentation site in site/.vitepress/dist and check its links (npm)
	@command -v npm >/dev/null || \
	  { echo "npm is missing: install Node.js 20 or later (Debian: apt-get install npm)"; exit 1; }
	@cd site && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error && npm run --silent build && \
	  npm run --silent check

.PHONY: recording
recording: build ## record the failover of the start page of the documentation again (asciinema)
	@site/record.sh

.PHONY: clean
clean: ## remove what the build made
	@rm -rf bin dist site/.vitepress/dist site/.vitepress/cache
