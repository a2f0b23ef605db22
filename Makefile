.PHONY: build test race bench speed compare ci picture prices e2e compatibility page chartjs release-check

build: ## both binaries, into bin/
	go build -trimpath -ldflags='-s -w' -o bin/ ./cmd/...

test: ## the offline suite
	go test ./...

race:
	go test -race ./...

bench: ## time the hook binary's paths beside well-known programs; prints ratios
	go run ./bench

speed: ## the same, into docs/speed.md
	go run ./bench -o docs/speed.md

compare: ## the report's totals beside ccusage's on the transcripts in .corpus, every difference accounted for
	go run ./bench/compare

ci: ## what has to pass before a change lands
	bash .ci/run

picture: ## the picture of the demo in the README; freeze draws a terminal's output as SVG
	go run github.com/charmbracelet/freeze@v0.2.2 --execute "go run ./cmd/plimsoll demo" --lines 1,18 -o docs/img/demo.svg \
	  --font.family "ui-monospace, Menlo, Consolas, DejaVu Sans Mono, monospace" --font.size 13 --padding 16

prices: ## the list prices, from the pinned npm package
	go generate ./internal/model/price

e2e: ## the newest and the oldest supported client, against a scripted API on loopback
	go test -tags e2e -count=1 -timeout 30m ./test/e2e

compatibility: ## every pinned client version; rewrites docs/compatibility.md
	PLIMSOLL_E2E_VERSIONS=matrix go test -tags e2e -count=1 -timeout 60m -run TestCompatibility ./test/e2e -update

page: ## the report's page in headless Chromium; leaves pictures of it in bin/page
	PLIMSOLL_PAGE_OUT=$(CURDIR)/bin/page go test -tags chromium -count=1 -run Chromium ./internal/report/page

chartjs: ## fetch the chart library that internal/report/page/chartjs/PIN names, and check its hashes
	bash internal/report/page/chartjs/fetch.sh
release-check: ## goreleaser's own check, and two releases into dist/, compared; publishes nothing. Minutes, most of them goreleaser's build
	bash .ci/release-check
