#!/usr/bin/env bash
# Installs what the build and the tests need and is not there yet: Debian packages by apt-get, npm packages by npm ci.
#
#   scripts/setup.sh [--check] [build|node|test|lint|fuzz|cross|bench|instructions|packages]...
#
# What is there already is left alone, whoever installed it. Without root it prints the one line to run and exits 1;
# with --check it never installs anything.
set -euo pipefail
cd "$(dirname "$0")/.."

# The one list: what needs it, the Debian package, and a command that succeeds when it is there.
needs() {
  cat <<'LIST'
build gcc                    have gcc
build libc6-dev              header stdio.h
build make                   have make
build cmake                  have cmake
build ninja-build            have ninja
build pkg-config             have pkg-config
build wabt                   is_release || { have wasm2c && header wasm-rt.h; }
build libuv1-dev             library libuv
build libyaml-dev            library yaml-0.1
build libsqlite3-dev         library sqlite3
build liblz4-dev             header lz4hc.h
build libcurl4-openssl-dev   library libcurl
build libssl-dev             header openssl/evp.h
build libedit-dev            header histedit.h
build libmicrohttpd-dev      header microhttpd.h
build libcmocka-dev          library cmocka
build ca-certificates        npm_is_done || [ -s /etc/ssl/certs/ca-certificates.crt ]
build nodejs                 is_release || node_is_new_enough
build npm                    npm_is_done || have npm
test  nodejs                 node_is_new_enough
test  npm                    npm_has tests || have npm
test  git                    have git
test  python3                have python3
test  golang-go              have go
test  g++                    have c++ || have g++ || have clang++
test  libtest-json-schema-acceptance-perl [ -d /usr/share/perl5/auto/share/dist/Test-JSON-Schema-Acceptance ]
test  chromium               have chromium
test  nginx-light            have nginx
test  caddy                  have caddy
test  zsh                    have zsh
test  fish                   have fish
test  mandoc                 have mandoc
test  patchelf               have patchelf
test  xz-utils               have xz
bench wrk                    have wrk
instructions valgrind        have valgrind
lint  python3                have python3
lint  clang-format           have clang-format
fuzz  clang                  have clang
fuzz  libclang-rt-dev        have clang && [ -e "$(clang -print-file-name=libclang_rt.fuzzer-$(uname -m).a)" ]
cross gcc-aarch64-linux-gnu  have aarch64-linux-gnu-gcc
cross libc6-dev-arm64-cross  [ -e /usr/aarch64-linux-gnu/include/stdio.h ]
cross qemu-user-static       have qemu-aarch64-static
packages patchelf            have patchelf
packages debhelper           have dh
packages lintian             have lintian
packages debootstrap         have debootstrap
packages buildah             have buildah
packages runc                have runc
packages python3             have python3
LIST
}

# What is generated is there (make dist): neither wabt nor Node.js nor npm has to be.
is_release() { [ -d generated ]; }
have() { command -v "$1" >/dev/null 2>&1; }
header() { [ -e "/usr/include/$1" ] || [ -e "/usr/local/include/$1" ]; }
library() { have pkg-config && pkg-config --exists "$1"; }
node_is_new_enough() { have node && node -e 'process.exit(parseInt(process.versions.node) >= 18 ? 0 : 1)'; }
# npm's stamp: the lockfile that a folder's node_modules was installed from.
npm_has() { cmp -s "$1/package-lock.json" "$1/node_modules/.lathe-lock.json"; }
npm_is_done() { is_release || { npm_has . && [ -s node_modules/quickjs-wasi/quickjs.wasm ]; }; }
# Debian's Node.js 18 builds Lathe and runs its tests; some of the programs they start ask for a newer one: servers for
# 20.19, the conformance suite of MCP for 22.
node_runs_all() { have node && node -e 'const [a] = process.versions.node.split("."); process.exit(+a >= 22 ? 0 : 1)'; }

missing_packages() { # profiles...
  local profile package check
  needs | while read -r profile package check; do
    case " $* " in
      *" $profile "*) eval "$check" </dev/null || echo "$package" ;;
    esac
  done
}

run_logged() { # what-it-is command...
  local what=$1
  shift
  mkdir -p build
  "$@" >build/setup.log 2>&1 </dev/null || {
    tail -n 20 build/setup.log >&2
    echo "setup: $what failed; the whole log is build/setup.log" >&2
    exit 1
  }
}

# The line that installs packages, by the system's own names. Only Debian's are tried; Ubuntu 24.04 has the same ones.
line_to_install() { # Debian packages...
  local sudo=""
  [ "$(id -u)" = 0 ] || sudo="sudo "
  if have apt-get || ! have dnf; then
    echo "${sudo}apt-get update && ${sudo}apt-get install -y --no-install-recommends $*"
  else
    echo "${sudo}dnf install -y" $(printf '%s\n' "$@" | sed -E '
      s/^libc6-dev$/glibc-devel/; s/^pkg-config$/pkgconf-pkg-config/; s/^libuv1-dev$/libuv-devel/; s/^g\+\+$/gcc-c++/
      s/^libsqlite3-dev$/sqlite-devel/; s/^libcurl4-openssl-dev$/libcurl-devel/; s/^libssl-dev$/openssl-devel/
      s/^liblz4-dev$/lz4-devel/; s/^npm$/nodejs-npm/; s/^golang-go$/golang/; s/^nginx-light$/nginx/
      s/^clang-format$/clang-tools-extra/; s/^libclang-rt-dev$/compiler-rt/; s/^(lib.*)-dev$/\1-devel/')
  fi
}

install_debian() { # packages...
  echo "setup: apt-get update"
  # A third-party list that cannot be had is no reason to stop: the installation below decides.
  apt-get update -qq >/dev/null 2>&1 </dev/null || true
  echo "setup: installing Debian packages: $*"
  DEBIAN_FRONTEND=noninteractive run_logged "apt-get install" \
    apt-get install -y -qq --no-install-recommends -o Dpkg::Use-Pty=0 "$@"
}

install_npm() { # folder what-for
  echo "setup: installing npm packages$2 (npm ci)"
  # No package's own install script is needed, so none is run.
  run_logged "npm ci" npm --prefix "$1" ci --ignore-scripts --no-audit --no-fund --loglevel=error
  cp "$1/package-lock.json" "$1/node_modules/.lathe-lock.json"
}

# The headers of Node's interface for addons.
install_npm_of_node() {
  npm_has packages/node || install_npm packages/node " of packages/node"
}

# What the benchmarks measure Lathe beside.
install_npm_of_peers() {
  npm_has bench/peers || install_npm bench/peers ": what the benchmarks measure Lathe beside (400 MB)"
}

# What only the tests and the benchmarks take from npm.
install_npm_of_tests() {
  install_npm_of_node
  npm_has tests || install_npm tests " of the tests"
  node_runs_all || npm_has tests/node || install_npm tests/node ": a newer Node.js for some of the programs of the tests"
}

main() {
  local check_only=no profiles=" build" wishes="" npm_of_tests=no npm_of_node=no npm_of_peers=no missing
  for arg in "$@"; do
    case "$arg" in
      --check) check_only=yes ;;
      build) ;;
      node) npm_of_node=needed ;;
      test) wishes+=" test" npm_of_tests=needed ;;
      bench) wishes+=" bench" npm_of_tests=wanted npm_of_peers=wanted ;;
      lint | fuzz | cross | instructions | packages) profiles+=" $arg" ;;
      *) echo "setup: unknown argument \"$arg\" (build, node, test, bench, lint, fuzz, cross, instructions, packages or --check)" >&2 && exit 2 ;;
    esac
  done

  missing=$(missing_packages $profiles | tr '\n' ' ')
  missing=${missing% }
  if [ -n "$missing" ]; then
    if [ "$check_only" = yes ] || [ "$(id -u)" != 0 ] || ! have apt-get; then
      echo "setup: some packages are missing. Run this line, then try again:" >&2
      echo "  $(line_to_install $missing)" >&2
      exit 1
    fi
    install_debian $missing
    missing=$(missing_packages $profiles | tr '\n' ' ')
    [ -z "${missing% }" ] || { echo "setup: installed, but still not found: $missing" >&2 && exit 1; }
  fi
  # What only makes some tests run instead of being skipped.
  missing=$(missing_packages $wishes)
  if [ -n "$missing" ] && [ "$check_only" = no ]; then
    { [ "$(id -u)" = 0 ] && have apt-get && (install_debian $missing); } || echo "setup: without $missing some tests are skipped"
  fi
  if ! npm_is_done; then
    if [ "$check_only" = yes ]; then
      echo "setup: the npm packages are missing. Run: scripts/setup.sh" >&2
      exit 1
    fi
    install_npm . ""
  fi
  [ "$check_only" = no ] || return 0
  [ "$npm_of_node" = no ] || install_npm_of_node
  case $npm_of_tests in
    needed) install_npm_of_tests ;;
    wanted) (install_npm_of_tests) || echo "setup: without them some figures are missing" ;;
  esac
  [ "$npm_of_peers" = no ] || (install_npm_of_peers) || echo "setup: without them Lathe is measured beside nothing"
}

main "$@"
