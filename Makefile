# vramscope: what GPU memory does inside a program, in a terminal.
# `make` alone prints the targets.

GO      ?= go
BINARY  := bin/vramscope
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)

# NVIDIA's binding calls functions that its own header marks as old; the
# warnings say nothing about this program.
export CGO_CFLAGS += -O2 -g -Wno-deprecated-declarations
export CGO_LDFLAGS += -O2 -g -Wl,-z,lazy
export CGO_ENABLED = 1

# The loader must bind lazily: an older driver lacks symbols that are never
# called, and binding everything at once would end the program at its start.
LDFLAGS := -X main.version=$(VERSION)

# What a recipe evaluates to build with CUDA where its headers can be had; CUDA=no
# leaves it out.
CUDA_ENVIRONMENT := sh pool/cuda/environment.sh
export CUDA

# What is different with the build tag cuda.
CUDA_PACKAGES := ./pool/cuda/... ./sources/local .

.DEFAULT_GOAL := help

.PHONY: help
help: ## print these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## build bin/vramscope, with CUDA where its headers can be had (CUDA=no: without)
	@mkdir -p bin
	eval "$$($(CUDA_ENVIRONMENT))" && $(GO) build -trimpath -tags "$$TAGS" -ldflags '$(LDFLAGS)' -o $(BINARY) .

.PHONY: run
run: build ## build it and open the dashboard on everything that can be seen here, a demo render if there is nothing
	./$(BINARY) $(ARGS)

.PHONY: demo
demo: build ## build it and open the dashboard on the demo render
	./$(BINARY) demo $(ARGS)

.PHONY: test
test: vet ## every check: formatting, go vet, all tests with the race detector
	eval "$$($(CUDA_ENVIRONMENT) 2>/dev/null)" && $(GO) test -race -timeout 30m ./...
	eval "$$($(CUDA_ENVIRONMENT))" && if [ -n "$$TAGS" ]; then \
	  $(GO) test -race -timeout 10m -tags cuda ./pool/cuda/... && \
	  $(GO) test -race -timeout 10m -tags cuda -run '^TestCUDA' ./sources/local .; \
	else echo "not run: the tests of the local GPU, which need CUDA's headers"; fi

.PHONY: vet
vet: tools ## formatting and go vet
	@unformatted=$$(gofmt -l $$(git ls-files --cached --others --exclude-standard '*.go')); \
	if [ -n "$$unformatted" ]; then echo "gofmt would change: $$unformatted; run 'make format'"; exit 1; fi
	eval "$$($(CUDA_ENVIRONMENT) 2>/dev/null)" && $(GO) vet ./... && \
	if [ -n "$$TAGS" ]; then $(GO) vet -tags cuda $(CUDA_PACKAGES); fi

.PHONY: tools
tools: ## check that Go, a C compiler and Python are there
	@command -v $(GO) >/dev/null || { echo "Go is missing: install Go 1.26.7 or later"; exit 1; }
	@command -v $${CC:-cc} >/dev/null || { \
	  if command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then apt-get update -qq && apt-get install -y -qq gcc libc6-dev; \
	  else echo "a C compiler is missing: install gcc (Debian: apt-get install gcc libc6-dev)"; exit 1; fi; }
	@command -v python3 >/dev/null || { \
	  if command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then apt-get update -qq && apt-get install -y -qq python3; \
	  else echo "Python is missing: install python3 (Debian: apt-get install python3)"; exit 1; fi; }

.PHONY: format
format: ## gofmt everything
	gofmt -w $$(git ls-files --cached --others --exclude-standard '*.go')

.PHONY: golden
golden: ## write the golden screens anew; look at the difference before committing it
	VRAMSCOPE_UPDATE_GOLDEN=1 $(GO) test ./ui/... .

.PHONY: bench
bench: build ## the costs of DESIGN, each beside its baseline
	$(GO) test -run '^$$' -bench . -benchmem ./arena ./pool ./recorder/... ./model ./ui/...
	VRAMSCOPE_BENCH=1 $(GO) test -run '^TestBench' -count=1 -v -timeout 20m .
	VRAMSCOPE_BENCH=1 $(GO) test -run '^TestBench' -count=1 -v -timeout 20m ./ui
	@mkdir -p bin/probe && ./$(BINARY) probe > bin/probe/vramscope_probe.py
	PYTHONPATH=bin/probe python3 sources/probe/python/bench/scopes.py
	python3 sources/probe/python/bench/sampling.py bin/probe

.PHONY: fuzz
fuzz: ## fuzz everything that reads bytes, FUZZTIME (10s) each
	@for package in $$($(GO) list ./...); do \
	  for name in $$($(GO) test -list '^Fuzz' $$package | grep '^Fuzz'); do \
	    echo "$$package $$name"; $(GO) test -run '^$$' -fuzz "^$$name$$" -fuzztime $${FUZZTIME:-10s} $$package || exit 1; \
	  done; done

.PHONY: clean
clean: ## remove what was built
	rm -rf bin .build
