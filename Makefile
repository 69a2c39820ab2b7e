# `make demo` and `make test` work on a bare Debian or Ubuntu machine: they install what is missing.

SHELL := bash

.PHONY: demo test crash setup bench-values bench-eval bench-state deny clean

demo: ## Build, apply the quick start, show it, plan again, destroy it.
	@scripts/demo.sh

test: ## Everything that CI runs.
	@scripts/test.sh

crash: ## Kill runs at every boundary and at 1,000 random instants; `make test` has a short form.
	@scripts/crash.sh

setup: ## Install what building and testing need.
	@scripts/setup.sh test

bench-values: ## How fast values are read and written, beside serde and Go.
	@scripts/setup.sh test && . scripts/env.sh && cargo bench --quiet --bench value_codec

bench-eval: ## How long Nix takes for a large stack, whole and in part, for each Nix at hand.
	@scripts/bench-eval.sh

bench-state: ## What saving the state costs, and how soon a run with a large state begins.
	@scripts/bench-state.sh

deny: ## Licenses, advisories and duplicates of dependencies; needs cargo-deny.
	@. scripts/env.sh && cargo deny check

clean: ## Remove what was built.
	rm -rf target tests/providers/bin tests/oracle/bin .cache
