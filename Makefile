# gslb: `make help` lists the targets. Needs Go 1.26, git and make; what else a
# target wants it installs under .tools/ through the Go module proxy.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

MODULES  := shared overwatch agent gslbctl packaging/launcher packaging/release integration
PROGRAMS := gslb-overwatch gslb-agent gslbctl gslb
GOLANGCI := .tools/golangci-lint-v2.15.0
GO       ?= go

# A module's version: that of its newest tag <module>/vX.Y.Z, or of <module>/VERSION where this is newer.
version   = $(shell packaging/version.sh $(1))
COMMIT   := $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
# The commit's own time, so that two builds of one commit are the same bytes.
DATE     := $(shell TZ=UTC0 git log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd 2>/dev/null || echo 1970-01-01T00:00:00Z)
INFO     := gslb.internal/shared/buildinfo
ldflags   = -s -w -X $(INFO).version=$(call version,$(1)) -X $(INFO).commit=$(COMMIT) -X $(INFO).date=$(DATE)
build     = CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false -ldflags '$(call ldflags,$(1))'

module_gslb-overwatch := overwatch
module_gslb-agent     := agent
module_gslbctl        := gslbctl
module_gslb           := packaging/launcher
main_gslb-overwatch   := ./overwatch/cmd/gslb-overwatch
main_gslb-agent       := ./agent/cmd/gslb-agent
main_gslbctl          := ./gslbctl/cmd/gslbctl
main_gslb             := ./packaging/launcher

# The race detector needs a C compiler. Without one the tests still run, and say so.
RACE := $(shell command -v $${CC:-cc} >/dev/null 2>&1 && echo -race -short)
# What runs without it: promises about allocations and processor time, which it would break, and the whole of those tests of which -short is
# a part (a test holds the list against them): they are long runs of one goroutine, some ten times as slow with it.
ALONE := Alloc|CPU_|SeesWhatTheModelSees|OfADayChangesNothing|FindsEveryChange|LargeFile|WhatPassesIsReadAsStored|NoAcknowledgedPinIsLost|LeavesMemoryFlat|AreExactAtEveryMoment|SameAsBuildingFromScratch

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z][a-z-]*:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-17s %s\n", $$1, $$2}'

.PHONY: check-tools
check-tools:
	@command -v $(GO) >/dev/null || { echo "Go is missing: install Go 1.26 or later from https://go.dev/dl/ and put it on PATH"; exit 1; }
	@command -v git >/dev/null || { echo "git is missing: install it with your package manager (Debian: apt-get install git)"; exit 1; }

.PHONY: build
build: check-tools ## build gslb-overwatch, gslb-agent, gslbctl and gslb into bin/
	@mkdir -p bin
	@for p in $(PROGRAMS); do $(MAKE) --no-print-directory bin/$$p || exit 1; done

.PHONY: $(addprefix bin/,$(PROGRAMS))
$(addprefix bin/,$(PROGRAMS)): bin/%:
	@$(call build,$(module_$*)) -o $@ $(main_$*)

.PHONY: run
run: build ## start a demo cluster on loopback and watch failover live
	@$(GO) run ./integration/cmd/demo -bin bin

.PHONY: test
test: check-tools test-unit test-integration ## run every test: units with the race detector, then real processes

.PHONY: test-unit
test-unit: check-tools ## vet and unit tests of every module
	@if [ -z "$(RACE)" ]; then \
	  if [ "$${CI:-}" = true ]; then echo "no C compiler, so no race detector: install one (Debian: apt-get install gcc)"; exit 1; fi; \
	  echo "note: no C compiler found, tests run without the race detector (Debian: apt-get install gcc)"; fi
	@for m in $(MODULES); do (cd $$m && GOWORK=off $(GO) build -o /dev/null ./...) || { echo "$$m does not build alone: run 'GOWORK=off go mod tidy' in it"; exit 1; }; done
	@failed=; for m in $(filter-out integration,$(MODULES)); do \
	  s=$$SECONDS; echo "== $$m"; (cd $$m && $(GO) vet ./... && $(GO) test $(RACE) -timeout 20m ./...) || failed="$$failed $$m"; \
	  echo "   $$m took $$((SECONDS-s)) s"; done; \
	  if [ -n "$$failed" ]; then echo "failed:$$failed"; exit 1; fi
	@if [ -n "$(RACE)" ]; then s=$$SECONDS; echo "== without the race detector: what it would break or make much slower"; \
	  $(GO) test -timeout 10m -run '$(ALONE)' ./overwatch/... ./shared/... ./agent/... | grep -v 'no test' ; echo "   that took $$((SECONDS-s)) s"; fi

.PHONY: test-integration
test-integration: build ## black-box tests with real processes, import walls, dead code
	@s=$$SECONDS; cd integration; $(GO) vet ./...; GSLB_BIN=$(CURDIR)/bin $(GO) test -count=1 -p 1 -parallel 3 -timeout 40m ./... ; \
	  echo "   integration took $$((SECONDS-s)) s"

# The parts of test-full. Each prints how to run what failed; a failing seed is in the output.
FULL_INTEGRATION = cd integration && GSLB_BIN=$(CURDIR)/bin
FULL_SOAK ?= 10m
FULL_SIEGE ?= 10m
.PHONY: full-store full-model full-restarts full-matrix full-fleet full-upgrade full-soak full-ways full-siege
full-store: check-tools
	cd overwatch && GSLB_KILLS=1000 $(GO) test -count=1 -timeout 30m -run 'TestKill_' ./internal/state/store
full-model: check-tools
	cd overwatch && GSLB_MODEL_HISTORIES=60 $(GO) test -count=1 -timeout 30m -run 'TestAnswers_' .
full-restarts: build
	$(FULL_INTEGRATION) GSLB_RESTARTS=100 GSLB_KILLS=100 $(GO) test -count=1 -timeout 30m -v -run 'TestOverwatchCrash_ManyTimes|TestCreated_Nothing' .
full-matrix: build
	ulimit -n 20000; $(FULL_INTEGRATION) GSLB_FULL=1 $(GO) test -count=1 -timeout 30m -v -run 'TestAgentFrozen|TestFlood_|TestCrowd_|TestDiskHangs_' .
full-fleet: build
	ulimit -n 20000; $(FULL_INTEGRATION) GSLB_FLEET=10000 $(GO) test -count=1 -timeout 30m -v -run 'TestFleet' .
full-upgrade: build
	$(FULL_INTEGRATION) GSLB_PROMETHEUS=1 GSLB_UPGRADE_FROM="8af032147c8d 7dbf207" $(GO) test -count=1 -timeout 20m -v -run 'TestDashboard_HasData|TestUpgrade' .
full-soak: build
	$(FULL_INTEGRATION) GSLB_SOAK=$(FULL_SOAK) $(GO) test -count=1 -timeout 0 -v -run 'TestSoak_InvariantsHoldUnder' .
full-ways: build
	$(FULL_INTEGRATION) GSLB_SOAK=$(FULL_SOAK) $(GO) test -count=1 -timeout 0 -v -run 'TestSoak_InvariantsHoldBetween' .
full-siege: build
	$(FULL_INTEGRATION) GSLB_SIEGE=$(FULL_SIEGE) $(GO) test -count=1 -timeout 30m -v -run 'TestSiege' ./trust

.PHONY: test-full
test-full: build ## what does not fit into `make test`: 1000 kills of the store, 100 restarts, 10 000 agents, whole floods, ten minutes of random faults
	@failed=; s=$$SECONDS; for part in store model restarts matrix fleet upgrade soak ways siege; do \
	  $(MAKE) --no-print-directory full-$$part || failed="$$failed full-$$part"; done; \
	  echo "   test-full took $$((SECONDS-s)) s"; if [ -n "$$failed" ]; then echo "failed, each a target of its own:$$failed"; exit 1; fi

.PHONY: test-long
LONG_FUZZ ?= 1m
test-long: ## the parts of test-full that pass on any machine, then each fuzz target for LONG_FUZZ (1m): an hour and a quarter
	@failed=; s=$$SECONDS; export GSLB_SOAK_SEED=$${GSLB_SOAK_SEED:-1}; for part in model restarts soak siege; do p=$$SECONDS; \
	  $(MAKE) --no-print-directory full-$$part FULL_SOAK=5m || failed="$$failed full-$$part"; echo "   full-$$part took $$((SECONDS-p)) s"; done; \
	  $(MAKE) --no-print-directory fuzz FUZZTIME=$(LONG_FUZZ) || failed="$$failed fuzz"; \
	  echo "   test-long took $$((SECONDS-s)) s"; if [ -n "$$failed" ]; then echo "failed, each a target of its own:$$failed"; exit 1; fi

.PHONY: soak
SOAK ?= 1h
soak: build ## random faults for SOAK (1h), every answer judged; a failing run says how to repeat it
	@cd integration && GSLB_BIN=$(CURDIR)/bin GSLB_SOAK=$(SOAK) $(GO) test -count=1 -timeout 0 -v -run TestSoak_InvariantsHoldUnder .
.PHONY: soak-ways
soak-ways: build ## the same between sites on networks of their own, which are cut, lossy, long, and behind a NAT (Linux; root or user namespaces)
	@cd integration && GSLB_BIN=$(CURDIR)/bin GSLB_SOAK=$(SOAK) $(GO) test -count=1 -timeout 0 -v -run TestSoak_InvariantsHoldBetween .

.PHONY: scale
SCALE ?= integration/plots
scale: build ## 100 000 names, 10 000 agents and three nodes on this machine; plots into SCALE (integration/plots; Linux, some minutes)
	@mkdir -p $(SCALE); ulimit -n 20000 && cd integration && GSLB_BIN=$(CURDIR)/bin GSLB_SCALE=$(abspath $(SCALE)) $(GO) test -count=1 -timeout 40m -v -run 'TestScale' .

.PHONY: fuzz
FUZZTIME ?= 10s
fuzz: check-tools ## run every fuzz target for FUZZTIME (10s)
	@$(GO) run ./integration/cmd/fuzz -time $(FUZZTIME) $(MODULES)

.PHONY: bench
bench: check-tools bench-go ## the Go benchmarks, then a short bench-dns
	@$(MAKE) --no-print-directory bench-dns BENCHFLAGS="-rounds 1 -seconds 1 -names 10"

.PHONY: bench-go
bench-go: check-tools ## run the Go benchmarks of the latency and rate promises
	@for m in overwatch shared agent; do (cd $$m && $(GO) test -run '^$$' -bench . -benchmem ./... | grep -vE 'no test files|^ok|^PASS') || exit 1; done

.PHONY: bench-dns
BENCHFLAGS   ?=
BENCH_DEBIAN := gdnsd nsd knot pdns-server pdns-backend-bind ldnsutils
bench-dns: build ## CPU time per DNS query beside gdnsd, NSD, Knot and PowerDNS (BENCHFLAGS=-h for its flags; Linux)
	@missing=; for p in gdnsd nsd knotd pdns_server ldns-signzone; do PATH=$$PATH:/usr/sbin command -v $$p >/dev/null || missing="$$missing $$p"; done; \
	  if [ -n "$$missing" ]; then if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "installing what is missing:$$missing"; \
	    apt-get update -qq && RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $(BENCH_DEBIAN); \
	  else echo "note: not installed and therefore skipped:$$missing (Debian: apt-get install $(BENCH_DEBIAN))"; fi; fi
	@PATH=$$PATH:/usr/sbin $(GO) run ./integration/bench -bin bin $(BENCHFLAGS)

.PHONY: bench-scale
bench-scale: build ## 10, 1 000 and 100 000 names side by side, unsigned and signed: CPU per query, time to the first answer, memory (Linux)
	@$(GO) run ./integration/bench -bin bin -flat -servers gslb-weighted,gslb-geolocation,gslb-signed -rounds 12 -seconds 0.5 $(BENCHFLAGS)

.PHONY: bench-changes
bench-changes: build ## what changes of health cost a node of 100 000 names, and what clients see of them (Linux)
	@$(GO) run ./integration/bench -bin bin -changes -names 100000 -rounds 3 -seconds 4 $(BENCHFLAGS)

.PHONY: bench-restart
bench-restart: build ## restart a node twice under 50 000 queries a second by dnsperf: none may be lost (Linux)
	@command -v dnsperf >/dev/null || { if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends dnsperf; fi; }
	@$(GO) run ./integration/bench -bin bin -restart 50000

.PHONY: bench-overload
bench-overload: build ## ask a node with 3 % of a core for more than it can answer, and freeze it: which queries are answered, and when (Linux, root)
	@$(GO) run ./integration/bench -bin bin -overload 0.03 -rounds 2 -seconds 2.5 $(BENCHFLAGS)

$(GOLANGCI):
	@echo "building golangci-lint $(@:.tools/golangci-lint-%=%) into .tools/ (once, some minutes)"
	@GOWORK=off GOFLAGS= GOBIN=$(CURDIR)/.tools $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(@:.tools/golangci-lint-%=%)
	@mv .tools/golangci-lint $@

.PHONY: lint
lint: check-tools $(GOLANGCI) ## gofmt and golangci-lint (pinned, built on first use)
	@failed=; for m in $(MODULES); do echo "== lint $$m"; \
	  (cd $$m && $(CURDIR)/$(GOLANGCI) run --config $(CURDIR)/.golangci.yml ./...) || failed="$$failed $$m"; done; \
	  if [ -n "$$failed" ]; then echo "failed:$$failed"; exit 1; fi

.PHONY: vulncheck
vulncheck: check-tools ## look for known vulnerabilities (asks vuln.go.dev)
	@for m in $(MODULES); do (cd $$m && $(GO) run golang.org/x/vuln/cmd/govulncheck@v1.1.4 ./...) || exit 1; done

.PHONY: dist
DISTFLAGS ?=
dist: check-tools ## archives, deb and rpm packages, bills of materials and checksums in dist/
	@$(GO) run ./packaging/release -out dist -commit $(COMMIT) -date $(DATE) \
	  $(foreach m,$(sort $(foreach p,$(PROGRAMS),$(module_$(p)))),-version $(m)=$(call version,$(m))) $(DISTFLAGS)

.PHONY: clean
clean: ## remove what the build made
	@rm -rf bin dist
