# Every target works from a fresh clone of this repository with Go, a C-less toolchain is enough. `make help` lists them.

SHELL := /usr/bin/env bash
.SHELLFLAGS := -o errexit -o nounset -o pipefail -c
.DEFAULT_GOAL := help

ROOT := $(CURDIR)
CACHE := $(ROOT)/.cache
TOOLS := $(CACHE)/tools

GOLANGCI_LINT_VERSION := v2.15.0
LOGCHECK_VERSION := v0.11.0

# Our own version goes into our own package, never into component-base, which reads it as Kubernetes' version.
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X github.com/spark-apiserver/spark-apiserver/pkg/version.gitVersion=$(VERSION)

GO_TEST_FLAGS ?=

##@ General

.PHONY: help
help: ## Show this list.
	@awk 'BEGIN {FS = ":.*##"} /^[a-zA-Z_-]+:.*##/ {printf "  %-20s %s\n", $$1, $$2} /^##@/ {printf "\n%s\n", substr($$0, 5)}' $(MAKEFILE_LIST)

.PHONY: quickstart
quickstart: build ## Start a control plane with simulated nodes and show a gang being scheduled. QUICKSTART_KUBECONFIG=FILE QUICKSTART_IMAGE=NAME uses a 1.37 cluster of yours.
	@hack/quickstart.sh up

.PHONY: quickstart-spark
quickstart-spark: ## The same with real Spark on a real node. Needs Linux and root; installs what it lacks.
	@hack/quickstart-spark.sh up

.PHONY: quickstart-down
quickstart-down: ## Stop what `make quickstart` and `make quickstart-spark` left running.
	@hack/quickstart.sh down
	@hack/quickstart-spark.sh down

##@ Build

.PHONY: build
build: ## Build bin/spark-apiserver and bin/kubectl-spark.
	@mkdir -p bin
	go build -ldflags '$(LDFLAGS)' -o bin/ ./cmd/spark-apiserver ./cmd/kubectl-spark

.PHONY: generate
generate: ## Write everything that is generated from the API types.
	hack/update-codegen.sh

.PHONY: cluster-binaries
cluster-binaries: ## Build kube-apiserver, kube-controller-manager, kube-scheduler, kubectl, etcd and kwok into the cache (minutes when cold).
	go run ./test/cluster/cmd/spark-test-cluster build

##@ Test

.PHONY: test
test: verify lint test-unit test-integration ## Run everything: format, vet, lint, generated code, unit and integration tests.

.PHONY: verify
verify: verify-format verify-codegen vet ## Check format, generated code, go vet and logcheck.

.PHONY: verify-format
verify-format: ## Check that gofmt would change nothing.
	@echo "gofmt"
	@files="$$(gofmt -l $$(git ls-files --cached --others --exclude-standard '*.go'))"; \
	if [[ -n "$$files" ]]; then echo "gofmt would change:"; echo "$$files"; exit 1; fi

.PHONY: verify-codegen
verify-codegen: ## Check that generated code is up to date. Needs protoc.
	@echo "generated code"
	hack/verify-codegen.sh

.PHONY: vet
vet: $(TOOLS)/logcheck ## Run go vet, and logcheck, which knows the rules of structured logging.
	@echo "go vet"
	go vet ./...
	go vet -tags faultpoints ./pkg/controller/... ./test/...
	@echo "logcheck"
	@# On its own: as -vettool of Go 1.26 its findings come as JSON and with exit code 0.
	$(TOOLS)/logcheck -config hack/logcheck.conf ./pkg/... ./cmd/...

.PHONY: lint
lint: $(TOOLS)/golangci-lint ## Run golangci-lint; the import rules of docs/architecture.md are among its rules.
	@echo "golangci-lint"
	$(TOOLS)/golangci-lint run --allow-parallel-runners ./...
	$(TOOLS)/golangci-lint run --allow-parallel-runners --build-tags faultpoints ./pkg/controller/... ./test/integration/...

.PHONY: test-unit
test-unit: ## Run unit tests with the race detector. Nothing but Go is needed.
	hack/go-test.sh $(CACHE)/logs/unit.log -race -timeout 30m $(GO_TEST_FLAGS) $$(go list ./... | grep -v -e /test/ -e /pkg/generated/)

.PHONY: test-integration
test-integration: build cluster-binaries ## Run the tests that use the real control plane.
	@# With the tag, controllers inside the test can be stopped at every write.
	hack/go-test.sh $(CACHE)/logs/integration.log -timeout 40m -tags faultpoints $(GO_TEST_FLAGS) $$(go list ./test/... | grep -v '/test/e2e$$')

.PHONY: e2e
e2e: ## Run real Spark in real containers on a real node. Needs Linux and root; installs what it lacks.
	hack/go-test.sh $(CACHE)/logs/e2e.log -count=1 -timeout 60m $(GO_TEST_FLAGS) ./test/e2e

##@ Measure

BENCH_FLAGS ?=

.PHONY: bench
bench: build cluster-binaries ## Measure everything beside its peers (hours). BENCH_FLAGS="-only api,lists" for parts; report in .cache/bench.
	go run ./test/bench/cmd/spark-bench $(BENCH_FLAGS)

.PHONY: bench-short
bench-short: build cluster-binaries ## A form of at most ten minutes.
	go run ./test/bench/cmd/spark-bench -short $(BENCH_FLAGS)

.PHONY: bench-pure
bench-pure: ## Benchmark the pure functions, for benchstat.
	go test -run '^$$' -bench Pure -count 10 ./test/bench

$(TOOLS)/golangci-lint:
	@echo "installing golangci-lint $(GOLANGCI_LINT_VERSION) (about a minute when cold)"
	GOBIN=$(TOOLS) go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION)

$(TOOLS)/logcheck:
	@echo "installing logcheck $(LOGCHECK_VERSION)"
	GOBIN=$(TOOLS) go install sigs.k8s.io/logtools/logcheck@$(LOGCHECK_VERSION)

.PHONY: clean
clean: ## Remove what was built; the cache of cluster binaries stays.
	rm -rf bin
