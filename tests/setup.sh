# shellcheck shell=sh
# Sourced by tests/run.sh and examples/run.sh: weft_setup installs the packages weft is built with (Debian, Ubuntu).
# Elsewhere, or without the rights, it changes nothing and the configure step names what is missing.

weft_packages="cmake ninja-build g++ ccache libeigen3-dev libboost-graph-dev doctest-dev libfmt-dev libbenchmark-dev
  libcli11-dev nlohmann-json3-dev libmpfr-dev zlib1g-dev"

weft_is_installed() {
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

weft_apt() {
  if [ "$(id -u)" -eq 0 ]; then
    DEBIAN_FRONTEND=noninteractive apt-get "$@"
  else
    sudo -n env DEBIAN_FRONTEND=noninteractive apt-get "$@"
  fi
}

# weft_install package...: quiet unless it fails. The package lists are fetched once.
weft_install() {
  if [ -z "$weft_lists_are_fresh" ]; then
    weft_apt update -q >/dev/null 2>&1 || echo "apt-get update failed; trying with the lists at hand" >&2
    weft_lists_are_fresh=yes
  fi
  weft_log=$(mktemp)
  if weft_apt install -q -y --no-install-recommends "$@" >"$weft_log" 2>&1; then
    rm -f "$weft_log"
    return 0
  fi
  tail -n 5 "$weft_log" >&2
  rm -f "$weft_log"
  return 1
}

weft_setup() {
  command -v apt-get >/dev/null 2>&1 || return 0
  weft_lists_are_fresh=
  weft_missing=
  for weft_package in $weft_packages; do
    weft_is_installed "$weft_package" || weft_missing="$weft_missing $weft_package"
  done
  if [ -n "$weft_missing" ]; then
    echo "installing$weft_missing" >&2
    # One by one if all at once fails, so that one missing package does not take the others with it.
    # shellcheck disable=SC2086
    weft_install $weft_missing || for weft_package in $weft_missing; do weft_install "$weft_package"; done
  fi
  # Any LLVM that weft supports will do if it is there; otherwise the newest that can be had.
  for weft_version in 22 21 20 19; do
    weft_is_installed "llvm-$weft_version-dev" && return 0
  done
  for weft_version in 22 21 20 19; do
    echo "installing llvm-$weft_version-dev" >&2
    weft_install "llvm-$weft_version-dev" && return 0
  done
  echo "no LLVM from 19 to 22 could be installed" >&2
  return 0
}
