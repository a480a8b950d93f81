# Run 'make' for the list of targets. What they do is in scripts/.
SHELL := /bin/bash
.DEFAULT_GOAL := help

# The servers that 'make test' makes ready. A kind that isn't listed is tested only where its server happens to be there.
# Consul takes about 7 minutes to build the first time on two cores; the binary stays in the user's cache.
KINDS ?= redis postgres etcd consul pgbouncer

# How many seeds 'make sim' runs. SEED=n tells one seed, with SHRINK=1 on as few faults as possible; RECORD=1 adds the sum to the record of all runs; MATTER=1 finds out which faults matter.
SEEDS ?= 10000

# How often each trial (kill, freeze, cut off) is repeated.
TRIALS ?= 20

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-19s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## build the command into bin/tenure
	go build -trimpath -o bin/tenure ./cmd/tenure

.PHONY: demo
demo: ## watch three processes elect a leader, lose it and go on (about 20 s, needs only Go)
	go run ./examples/demo

.PHONY: test
test: servers ## set up what is missing, then run all tests with the race detector
	TENURE_TEST_KINDS="$(KINDS)" scripts/test.sh

.PHONY: servers
servers: ## install or build the servers for tests (KINDS="redis etcd" chooses)
	scripts/servers.sh $(KINDS)

.PHONY: test-containers
test-containers: ## run the conformance suite on servers in containers, if a container engine answers (KINDS="redis etcd" chooses)
	TENURE_TEST_CONTAINERS="$(filter-out pgbouncer,$(KINDS))" scripts/test.sh -count=1 -run '^TestContainers$$' ./internal/testenv ./backend/all

.PHONY: trials
trials: servers ## run each kill, freeze and cut-off trial 20 times (TRIALS=n)
	TENURE_RACE=0 TENURE_TRIALS=$(TRIALS) TENURE_TEST_KINDS="$(KINDS)" scripts/test.sh -v -count=1 -run '^TestTrial' ./...

.PHONY: conformance
conformance: servers ## run the conformance suite on every store and print the table of outcomes
	TENURE_TEST_KINDS="$(KINDS)" scripts/conformance.sh -check README.md

.PHONY: conformance-readme
conformance-readme: servers ## the same, and put the table into the README
	TENURE_TEST_KINDS="$(KINDS)" scripts/conformance.sh -write README.md

.PHONY: mutants
mutants: ## check that broken electors and stores turn their rules violated (without the race detector)
	TENURE_RACE=0 scripts/test.sh -count=1 -run 'Mutants' ./conformance

.PHONY: sim
sim: ## simulate elections from seeds, with faults, and check all invariants (SEEDS=n; SEED=n SHRINK=1; RECORD=1; MATTER=1)
	GOGC=400 go run ./internal/sim/cmd/sim -seeds $(SEEDS) $(if $(SEED),-seed $(SEED)) $(if $(SHRINK),-shrink) $(if $(RECORD),-record) $(if $(MATTER),-matter)

.PHONY: bench
bench: ## run the benchmarks
	go test -run '^$$' -bench . -benchmem ./...

.PHONY: cover
cover: servers ## run all tests and print the coverage of each function
	TENURE_TEST_KINDS="$(KINDS)" scripts/test.sh -coverprofile=cover.out -coverpkg=./... ./...
	go tool cover -func=cover.out

.PHONY: vet
vet: ## run go vet
	go vet ./...

.PHONY: lint
lint: ## run golangci-lint (built once) and the project's own rules
	scripts/lint.sh

.PHONY: cross
cross: ## compile for Linux, macOS and Windows
	scripts/cross.sh

.PHONY: tidy-check
tidy-check: ## check that go.mod and go.sum are tidy
	scripts/tidy-check.sh

.PHONY: ci
ci: ## do what CI does
	.ci/run

.PHONY: clean
clean: ## remove what was built here (the cache of servers and tools stays)
	rm -rf bin dist cover.out
