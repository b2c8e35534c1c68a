# Lathe's build, from outside. CMake presets do the work; this file prepares what they share and names the usual jobs.
#
# build/engine   the JavaScript engine, translated from wasm and compiled once for all presets
# build/node     the addon by which Node.js uses liblathe
# build/page     what the page of `lathe serve` takes from npm, bundled once for all presets
# build/<preset> one CMake build each: release, asan, tsan, fuzz, aarch64
# build/lathe    the program (a link into build/release)
SHELL       := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
MAKEFLAGS   += --no-builtin-rules --no-print-directory

ENGINE      := build/engine
PAGE        := build/page
# -O2 without these flags runs programs half as fast: each opcode ends with a jump of its own, and small functions are part
# of those that call them (docs/internals/engine.md).
ENGINE_CFLAGS := -O3 -fno-strict-aliasing -w --param max-goto-duplication-insns=40 \
  --param max-inline-insns-auto=55 --param inline-unit-growth=60
# Of libm the engine needs little: a root is an instruction, and rounding is our own (wasm_rt.h). So no process loads it.
ENGINE_CFLAGS += -fno-math-errno $(foreach f,floor ceil trunc nearbyint,-D$f=wasm_rt_$f)
WERROR      := $(if $(CI),ON,OFF)
PRESETS     := release asan tsan fuzz aarch64
CROSS       := build/cross-aarch64
FUZZ_SECONDS ?= 30
PREFIX      ?= /usr/local

.PHONY: all engine engine-profile page node dist demo test bench bench-docs instructions asan tsan fuzz lint fmt cross cross-all cross-build install uninstall packages packages-arm64 packages-check packages-check-arm64 clean distclean help check

help: ## What there is
	@awk -F ':.*## ' '/^[a-z0-9 -]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

all: check ## Build the program and the library: build/lathe
	@$(MAKE) -j2 engine page build/release.libs
	@cmake --build build/release --target program
	@ln -sfn release/lathe build/lathe

check:
	@scripts/setup.sh --check build

# --- what is generated -------------------------------------------------------------------------------------------------

# With wabt, Node.js and npm's packages; a release has it in generated/ (make dist), and needs none of them.
GENERATED_ENGINE := qjs.c qjs.h wasm-rt.h version.txt sucrase.js web.js intl-data.js intl.js zones.txt
# Of it, what CMake and our own libraries need before they are compiled.
CONFIGURED_BY    := qjs.h wasm-rt.h version.txt zones.txt
GENERATED_PAGE   := page.pack page_rows.inc page_sources.inc

ifneq ($(wildcard generated),)

$(ENGINE)/%: generated/engine/%
	@mkdir -p $(@D)
	@cp $< $@

$(PAGE)/%: generated/page/%
	@mkdir -p $(@D)
	@cp $< $@

else
include scripts/generate.mk
endif

engine: $(GENERATED_ENGINE:%=$(ENGINE)/%) $(ENGINE)/libqjs.a
	@:

page: $(GENERATED_PAGE:%=$(PAGE)/%)
	@:

# gcc looks for the profile beside the object, and for its functions by the name of their file, as it was given: so the
# compiler is called in the folder. A profile of another compiler or engine is passed over.
$(ENGINE)/qjs.gcda: src/sandbox/engine.gcda.gz
	@mkdir -p $(@D)
	@gzip -dc $< >$@

$(ENGINE)/qjs.o: $(ENGINE)/qjs.c $(ENGINE)/qjs.h $(ENGINE)/wasm-rt.h $(ENGINE)/qjs.gcda
	@echo "Compiling the engine (about 40 seconds, once)"
	cd $(ENGINE) && gcc $(ENGINE_CFLAGS) -fprofile-use -c qjs.c -o qjs.o

engine-profile: $(ENGINE)/qjs.c ## Find the engine's hot paths anew: src/sandbox/engine.gcda.gz
	scripts/engine-profile.sh $(ENGINE_CFLAGS)

$(ENGINE)/libqjs.a: $(ENGINE)/qjs.o
	@ar rcs $@ $<

# --- liblathe for Node.js --------------------------------------------------------------------------------------------

# Node's own loop is used, so libuv is that of Node: its header alone is needed here. The library is loaded at run time.
NODE_ADDON  := build/node/lathe.node
NODE_HEADERS := packages/node/node_modules/node-api-headers/include

$(NODE_ADDON): $(wildcard packages/node/*.c packages/node/*.h) include/lathe.h packages/node/node_modules/.lathe-lock.json
	@mkdir -p $(@D)
	gcc -O2 -fPIC -fvisibility=hidden -shared -std=gnu17 -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wcast-qual $(if $(CI),-Werror) \
	  -Iinclude -I$(NODE_HEADERS) $$(pkg-config --cflags libuv) -o $@ $(filter %.c,$^)

# QuickJS as machine code, beside which the engine is measured: with -O2, as its makefile has it. Link-time optimization
# and its extensions for big numbers do not make it faster.
NATIVE_QUICKJS := build/release/lt_bench_native
NATIVE_SOURCES := bench/peers/node_modules/qjsc/deps/quickjs_2021_03_27

$(NATIVE_QUICKJS): bench/peers/native.c bench/peers/node_modules/.lathe-lock.json
	gcc -O2 -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion $(if $(CI),-Werror) -DLT_BENCH_DIR='"$(CURDIR)/bench"' \
	  -isystem $(NATIVE_SOURCES) -c -o $@.o $<
	gcc -O2 -w -D_GNU_SOURCE -DCONFIG_VERSION='"2021-03-27"' -I$(NATIVE_SOURCES) -o $@ $@.o \
	  $(addprefix $(NATIVE_SOURCES)/,quickjs.c libregexp.c libunicode.c cutils.c) -lm

# --- the presets ----------------------------------------------------------------------------------------------------

# Our own libraries, which need only the engine's header: they are compiled while the engine is, which
# takes longest, on one processor, and goes first.
$(PRESETS:%=build/%.libs): build/%.libs: build/%.configured
	@nice cmake --build build/$* --target libs

# Everything, with the tests and measurements.
$(PRESETS:%=build/%.all): build/%.all: build/%.configured
	@cmake --build build/$*

# Always asked: it costs a third of a second, and changes nothing when nothing has changed.
$(PRESETS:%=build/%.configured): build/%.configured: $(CONFIGURED_BY:%=$(ENGINE)/%)
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
	@$(MAKE) all build/release.all
	@scripts/canaries.sh release
	@scripts/run-tests.sh release

bench: ## Measure Lathe, and others beside it, or only QUESTIONS; never fails
	@scripts/setup.sh bench
	@$(MAKE) all build/release.all
	@$(MAKE) -k $(NODE_ADDON) $(NATIVE_QUICKJS) || echo "make: without them some figures are missing"
	@scripts/bench.sh $(QUESTIONS)

bench-docs: bench ## ... and write the figures of README.md and docs/BENCH.md
	@scripts/bench-readme.mjs

asan tsan: ## The tests under sanitizers, and faults that they must find
	@scripts/setup.sh test
	@$(MAKE) -j2 engine page build/$@.libs
	@$(MAKE) build/$@.all
	@scripts/canaries.sh $@
	@scripts/run-tests.sh $@

instructions: ## Count the instructions of ten paths: none may take many more than before
	@scripts/setup.sh instructions
	@$(MAKE) all build/release.all
	@scripts/instructions.mjs

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

# Against Debian's packages for arm64, which are unpacked below build/.
$(CROSS)/libqjs.a: $(ENGINE)/qjs.c
	@echo "Compiling the engine for aarch64 (about 40 seconds, once)"
	@mkdir -p $(CROSS)
	aarch64-linux-gnu-gcc $(ENGINE_CFLAGS) -c $< -o $(CROSS)/libqjs.o
	@aarch64-linux-gnu-gcc-ar rcsD $@ $(CROSS)/libqjs.o

cross-build:
	@scripts/setup.sh cross
	@scripts/sysroot-aarch64.sh
	@$(MAKE) $(GENERATED_ENGINE:%=$(ENGINE)/%) page
	@$(MAKE) -j2 $(CROSS)/libqjs.a build/aarch64.libs
	@cmake --build build/aarch64 --target lathe

cross: cross-build ## Build the program for aarch64, and run some of its tests under emulation
	@scripts/cross-aarch64.sh
	@if scripts/with-aarch64.sh true; then scripts/with-aarch64.sh scripts/run-tests.sh aarch64 few; fi

cross-all: cross-build ## ... with the library, unit tests and all flow tests that can be emulated
	@$(MAKE) build/aarch64.all
	@scripts/with-aarch64.sh scripts/run-tests.sh aarch64

dist: ## Pack the sources with what is generated: build/lathe-VERSION.tar.xz builds without wabt, Node.js and npm
	@scripts/setup.sh --check build
	@$(MAKE) $(GENERATED_ENGINE:%=$(ENGINE)/%) page
	@scripts/dist.sh $(GENERATED_ENGINE:%=engine/%) $(GENERATED_PAGE:%=page/%)

install: all ## Install below PREFIX (/usr/local), in the folder DESTDIR where a package is made
	@scripts/install.sh install "$(DESTDIR)" "$(PREFIX)"

packages: all ## Pack what is built into build/packages: tarballs, .deb, npm, .mcpb, wheel
	@scripts/setup.sh packages
	@scripts/packages.sh

packages-arm64: all cross-build ## ... for aarch64, by the cross build: tarballs, .deb, npm, wheel
	@scripts/setup.sh packages
	@cmake --build build/aarch64 --target liblathe liblathe_static lathe-exec
	@LATHE_MACHINE=aarch64 scripts/packages.sh

packages-check: ## Try the packages: lintian, a bare Debian, a container (as root)
	@scripts/setup.sh packages
	@scripts/packages-check.sh

packages-check-arm64: ## ... those for aarch64, in a bare Debian of that machine, by qemu (as root)
	@scripts/setup.sh packages cross
	@LATHE_MACHINE=aarch64 scripts/packages-check.sh

uninstall: ## Remove what `install` put there; configuration and state stay
	@scripts/install.sh uninstall "$(DESTDIR)" "$(PREFIX)"

clean: ## Remove what was built
	@rm -rf build

distclean: clean ## ... and what npm installed
	@rm -rf node_modules tests/node_modules tests/node/node_modules
