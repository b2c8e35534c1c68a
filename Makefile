# Lathe's build, from outside. CMake presets do the work; this file prepares what they share and names the usual jobs.
#
# build/engine   the JavaScript engine, translated from wasm and compiled once for all presets
# build/node     the addon by which Node.js uses liblathe
# build/page     what the page of `lathe serve` takes from npm, bundled once for all presets
# build/<preset> one CMake build each: release, asan, tsan, fuzz
# build/lathe    the program (a link into build/release)
SHELL       := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
MAKEFLAGS   += --no-builtin-rules --no-print-directory

ENGINE      := build/engine
ENGINE_WASM := node_modules/quickjs-wasi/quickjs.wasm
# -O2 without these flags runs programs half as fast (docs/internals/box.md).
ENGINE_CFLAGS := -O3 -fno-strict-aliasing -w
WERROR      := $(if $(CI),ON,OFF)
PRESETS     := release asan tsan fuzz
FUZZ_SECONDS ?= 30
PREFIX      ?= /usr/local

.PHONY: all engine page node demo test bench asan tsan fuzz lint fmt cross install uninstall packages packages-check clean distclean help check

help: ## What there is
	@awk -F ':.*## ' '/^[a-z -]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

all: check ## Build the program: build/lathe
	@$(MAKE) -j2 engine page build/release.libs
	@$(MAKE) build/release.all
	@ln -sfn release/lathe build/lathe

check:
	@scripts/setup.sh --check build

# --- the engine, and the type stripper that runs in it ---------------------------------------------------------------

IMAGE_SCRIPTS := $(ENGINE)/sucrase.js $(ENGINE)/web.js $(ENGINE)/intl-data.js $(ENGINE)/intl.js

engine: $(IMAGE_SCRIPTS) $(ENGINE)/libqjs.a
	@:

$(ENGINE)/qjs.c: $(ENGINE_WASM)
	@mkdir -p $(ENGINE)
	wasm2c $< -n qjs -o $@
	@# All functions in its table are its own, so an indirect call stays in the calling instance: one table serves all boxes.
	@sed -i -E 's/instance->w2c___indirect_function_table\.data\[[^]]+\]\.module_instance/instance/' $@

$(ENGINE)/qjs.o: $(ENGINE)/qjs.c
	@echo "Compiling the engine (about 40 seconds, once)"
	gcc $(ENGINE_CFLAGS) -c $< -o $@

$(ENGINE)/libqjs.a: $(ENGINE)/qjs.o
	@ar rcs $@ $<

# A script of an image is a function of the host's functions and the image's roots, like prelude.js.
BUNDLE := node_modules/.bin/esbuild --bundle --minify --format=esm --target=es2023 --log-level=warning \
  --banner:js="((H, roots) => {'use strict';" --footer:js="})"
BUNDLE_WEB := $(BUNDLE) --platform=neutral --main-fields=module,main \
  --define:global=globalThis --define:window=globalThis --define:self=globalThis

$(ENGINE)/sucrase.js: src/sandbox/strip_entry.js src/sandbox/strip_namespaces.js node_modules/.lathe-lock.json
	@mkdir -p $(ENGINE)
	$(BUNDLE) $< --outfile=$@

$(ENGINE)/web.js: src/sandbox/web/entry.js $(wildcard src/sandbox/web/*.js) node_modules/.lathe-lock.json
	@mkdir -p $(ENGINE)
	$(BUNDLE_WEB) $< --outfile=$@

# Locales and time zones, from the pinned packages only (docs/internals/intl.md).
$(ENGINE)/intl-data.js $(ENGINE)/zones.txt &: scripts/intl-data.mjs node_modules/.lathe-lock.json
	@mkdir -p $(ENGINE)
	node $< $(ENGINE)/intl-data.js $(ENGINE)/zones.txt

$(ENGINE)/intl.js: src/sandbox/web/intl/intl_entry.js $(wildcard src/sandbox/web/intl/*.js) node_modules/.lathe-lock.json
	@mkdir -p $(ENGINE)
	$(BUNDLE) $< --outfile=$@

# --- the page of `lathe serve` ---------------------------------------------------------------------------------------

# The start page has one script and one stylesheet of ours in it: main.js, main.css. What is of others is loaded when it is
# needed: NAME_entry.js becomes NAME.js. The editor and the colours of shown programs have their parsers in common: those
# are in lezer.js. code_editor.js needs the editor at its begin, so it is no part of main.js; what it takes of our other
# files it has once more (none of that keeps a state).
PAGE        := build/page
PAGE_COLOUR := editor highlight
PAGE_BUNDLE := node_modules/.bin/esbuild --bundle --minify --format=esm --target=es2022 --log-level=warning

page: $(PAGE)/main.js $(PAGE)/code_editor.js $(PAGE)/main.css $(PAGE)/markdown.js $(PAGE_COLOUR:%=$(PAGE)/%.js) $(PAGE)/lezer.js
	@:

$(PAGE)/main.js $(PAGE)/code_editor.js: $(PAGE)/%.js: $(filter-out %_entry.js,$(wildcard src/serve/page/*.js)) node_modules/.lathe-lock.json
	@mkdir -p $(PAGE)
	$(PAGE_BUNDLE) $(patsubst %,--external:./%.js,$(filter-out $*,code_editor markdown $(PAGE_COLOUR))) src/serve/page/$*.js --outfile=$@

$(PAGE)/main.css: $(wildcard src/serve/page/*.css) node_modules/.lathe-lock.json
	@mkdir -p $(PAGE)
	$(PAGE_BUNDLE) src/serve/page/main.css --outfile=$@

$(PAGE)/markdown.js: src/serve/page/markdown_entry.js node_modules/.lathe-lock.json
	@mkdir -p $(PAGE)
	$(PAGE_BUNDLE) $< --outfile=$@

$(PAGE_COLOUR:%=$(PAGE)/%.js) $(PAGE)/lezer.js &: $(PAGE_COLOUR:%=src/serve/page/%_entry.js) node_modules/.lathe-lock.json
	@mkdir -p $(PAGE)
	$(PAGE_BUNDLE) --splitting --chunk-names=lezer --outdir=$(PAGE) $(foreach n,$(PAGE_COLOUR),$(n)=src/serve/page/$(n)_entry.js)

# --- liblathe for Node.js --------------------------------------------------------------------------------------------

# Node's own loop is used, so libuv is that of Node: its header alone is needed here. The library is loaded at run time.
NODE_ADDON  := build/node/lathe.node
NODE_HEADERS := packages/node/node_modules/node-api-headers/include

$(NODE_ADDON): packages/node/lathe_node.c include/lathe.h packages/node/node_modules/.lathe-lock.json
	@mkdir -p $(@D)
	gcc -O2 -fPIC -shared -std=gnu17 -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wcast-qual $(if $(CI),-Werror) \
	  -Iinclude -I$(NODE_HEADERS) $$(pkg-config --cflags libuv) -o $@ $<

# --- the presets ----------------------------------------------------------------------------------------------------

# Our own libraries, which need only the engine's header: they are compiled while the engine is.
$(PRESETS:%=build/%.libs): build/%.libs: build/%.configured
	@cmake --build build/$* --target libs

$(PRESETS:%=build/%.all): build/%.all: build/%.configured
	@cmake --build build/$*

# Always asked: it costs a third of a second, and changes nothing when nothing has changed.
$(PRESETS:%=build/%.configured): build/%.configured: $(ENGINE)/qjs.c $(ENGINE)/zones.txt
	@mkdir -p build
	@cmake --preset $* -DLT_WERROR=$(WERROR) >build/$*.log 2>&1 || { cat build/$*.log >&2; exit 1; }

.PHONY: $(foreach p,$(PRESETS),build/$(p).libs build/$(p).all build/$(p).configured)

# --- jobs -----------------------------------------------------------------------------------------------------------

node: ## Build what packages/node needs: build/node/lathe.node
	@scripts/setup.sh node
	@$(MAKE) $(NODE_ADDON)

demo: ## Install what is missing, build, run a program against real MCP servers
	@scripts/setup.sh build
	@$(MAKE) all
	@scripts/demo.sh

test: ## Install what is missing, build, run every test
	@scripts/setup.sh test
	@$(MAKE) all
	@scripts/canaries.sh release
	@scripts/run-tests.sh release

bench: ## Measure what DESIGN.md promises; never fails
	@scripts/setup.sh bench
	@$(MAKE) all
	@$(MAKE) $(NODE_ADDON) || echo "make: without it some figures are missing"
	@scripts/bench.sh

asan tsan: ## The tests under sanitizers, and faults that they must find
	@scripts/setup.sh test
	@$(MAKE) -j2 engine page build/$@.libs
	@$(MAKE) build/$@.all
	@scripts/canaries.sh $@
	@scripts/run-tests.sh $@

fuzz: ## Fuzz each target for FUZZ_SECONDS (30)
	@scripts/setup.sh fuzz
	@$(MAKE) -j2 engine page build/fuzz.libs
	@$(MAKE) build/fuzz.all
	@scripts/fuzz.sh $(FUZZ_SECONDS)

lint: ## Check layers, headers, formatting
	@scripts/setup.sh lint
	@scripts/lint.sh

fmt: ## Format the C files
	@scripts/setup.sh lint
	@git ls-files -co --exclude-standard 'src/*.[ch]' 'tests/*.[ch]' 'bench/*.[ch]' 'include/*.h' | xargs -r clang-format -i

cross: ## Build for aarch64 and run its tests under emulation
	@scripts/setup.sh cross
	@$(MAKE) $(ENGINE)/qjs.c $(ENGINE)/zones.txt $(IMAGE_SCRIPTS) page
	@scripts/cross-aarch64.sh

install: all ## Install below PREFIX (/usr/local), in the folder DESTDIR where a package is made
	@scripts/install.sh install "$(DESTDIR)" "$(PREFIX)"

packages: all ## Pack what is built into build/packages: tarballs, .deb, npm, .mcpb, wheel
	@scripts/setup.sh packages
	@scripts/packages.sh

packages-check: ## Try the packages: lintian, a bare Debian, a container (as root)
	@scripts/setup.sh packages
	@scripts/packages-check.sh

uninstall: ## Remove what `install` put there; configuration and state stay
	@scripts/install.sh uninstall "$(DESTDIR)" "$(PREFIX)"

clean: ## Remove what was built
	@rm -rf build

distclean: clean ## ... and what npm installed
	@rm -rf node_modules tests/node_modules tests/node/node_modules
