# How the files in build/engine and build/page are generated (Makefile). Needs wabt, Node.js and npm's packages.
NPM := node_modules/.lathe-lock.json

# --- the engine -------------------------------------------------------------------------------------------------------

$(ENGINE)/qjs.c $(ENGINE)/qjs.h &: node_modules/quickjs-wasi/quickjs.wasm scripts/engine-rewrite.mjs
	@mkdir -p $(ENGINE)
	wasm2c $< -n qjs -o $(ENGINE)/qjs.c
	@scripts/engine-rewrite.mjs $(ENGINE)/qjs.c $<

# Of the wabt that has translated the engine.
$(ENGINE)/wasm-rt.h: $(firstword $(wildcard /usr/local/include/wasm-rt.h /usr/include/wasm-rt.h))
	@mkdir -p $(ENGINE)
	@cp $< $@

$(ENGINE)/version.txt: node_modules/quickjs-wasi/package.json
	@mkdir -p $(ENGINE)
	@node -p 'require("./$<").version' >$@

# --- scripts of images ------------------------------------------------------------------------------------------------

# A script of an image is a function of the host's functions and the image's roots, like prelude.js.
BUNDLE := node_modules/.bin/esbuild --bundle --minify --format=esm --target=es2023 --log-level=warning \
  --banner:js="((H, roots) => {'use strict';" --footer:js="})"
BUNDLE_WEB := $(BUNDLE) --platform=neutral --main-fields=module,main \
  --define:global=globalThis --define:window=globalThis --define:self=globalThis

$(ENGINE)/sucrase.js: src/sandbox/strip_entry.js src/sandbox/strip_namespaces.js $(NPM)
	@mkdir -p $(ENGINE)
	$(BUNDLE) $< --outfile=$@

$(ENGINE)/web.js: src/sandbox/web/entry.js $(wildcard src/sandbox/web/*.js) $(NPM)
	@mkdir -p $(ENGINE)
	$(BUNDLE_WEB) $< --outfile=$@

# Locales and time zones, from the pinned packages only (docs/internals/intl.md).
$(ENGINE)/intl-data.js $(ENGINE)/zones.txt &: scripts/intl-data.mjs $(NPM)
	@mkdir -p $(ENGINE)
	node $< $(ENGINE)/intl-data.js $(ENGINE)/zones.txt

$(ENGINE)/intl.js: src/sandbox/web/intl/intl_entry.js $(wildcard src/sandbox/web/intl/*.js) $(NPM)
	@mkdir -p $(ENGINE)
	$(BUNDLE) $< --outfile=$@

# --- the page of `lathe serve` ----------------------------------------------------------------------------------------

# The start page has one script and one stylesheet of ours in it: main.js, main.css. What is of others is loaded when it is
# needed: NAME_entry.js becomes NAME.js. The editor and the colours of shown programs have their parsers in common: those
# are in lezer.js. code_editor.js needs the editor at its begin, so it is no part of main.js; what it takes of our other
# files it has once more (none of that keeps a state).
PAGE_COLOUR := editor highlight
PAGE_FILES  := src/serve/page/icon.svg src/serve/page/index.html \
  $(addprefix $(PAGE)/,code_editor.js editor.js highlight.js lezer.js main.css main.js markdown.js)
PAGE_BUNDLE := node_modules/.bin/esbuild --bundle --minify --format=esm --target=es2022 --log-level=warning

$(PAGE)/page.pack $(PAGE)/page_rows.inc $(PAGE)/page_sources.inc &: scripts/pack-page.mjs $(PAGE_FILES)
	node $< $(PAGE) $(PAGE_FILES)

$(PAGE)/main.js $(PAGE)/code_editor.js: $(PAGE)/%.js: $(filter-out %_entry.js,$(wildcard src/serve/page/*.js)) $(NPM)
	@mkdir -p $(PAGE)
	$(PAGE_BUNDLE) $(patsubst %,--external:./%.js,$(filter-out $*,code_editor markdown $(PAGE_COLOUR))) src/serve/page/$*.js --outfile=$@

$(PAGE)/main.css: $(wildcard src/serve/page/*.css) $(NPM)
	@mkdir -p $(PAGE)
	$(PAGE_BUNDLE) src/serve/page/main.css --outfile=$@

$(PAGE)/markdown.js: src/serve/page/markdown_entry.js $(NPM)
	@mkdir -p $(PAGE)
	$(PAGE_BUNDLE) $< --outfile=$@

$(PAGE_COLOUR:%=$(PAGE)/%.js) $(PAGE)/lezer.js &: $(PAGE_COLOUR:%=src/serve/page/%_entry.js) $(NPM)
	@mkdir -p $(PAGE)
	$(PAGE_BUNDLE) --splitting --chunk-names=lezer --outdir=$(PAGE) $(foreach n,$(PAGE_COLOUR),$(n)=src/serve/page/$(n)_entry.js)
