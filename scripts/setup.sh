# SPDX-License-Identifier: MIT OR Apache-2.0
# Sourced by scripts/check and scripts/demo: goes to the project's root and installs what is
# missing of scripts/packages.txt. Debian packages need root or sudo; Python packages go into
# build/venv. Nothing is installed twice, so a second run costs a fraction of a second.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Objects are found again in another build folder or checkout.
export CCACHE_BASEDIR=$PWD

say() { printf '\033[1m== %s\033[0m\n' "$*" >&2; }

# packages GROUP...: the names of the given groups.
packages() {
  awk -v groups=" $* " '!/^#/ && NF == 2 && index(groups, " " $2 " ") { print $1 }' scripts/packages.txt
}

# install_debian GROUP...
install_debian() {
  local missing=() name
  for name in $(packages "$@"); do
    dpkg-query -W -f '${Status}' "$name" 2>/dev/null | grep -q '^install ok installed' || missing+=("$name")
  done
  [ ${#missing[@]} -eq 0 ] && return
  local sudo=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || {
      echo "error: these Debian packages are missing and neither root nor sudo is at hand: ${missing[*]}" >&2
      exit 1
    }
    sudo=(sudo)
  fi
  say "installing ${missing[*]}"
  "${sudo[@]}" apt-get update -qq
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# Peers of the benchmarks are optional: a machine whose archive lacks one still passes.
install_debian_optional() { (install_debian "$@") || say "optional packages were not installed"; }

install_python() {
  local stamp=build/venv/packages.txt
  mkdir -p build
  cmp -s scripts/packages.txt "$stamp" && return
  say "creating build/venv"
  # The system's Python: a venv of another one may not find its own shared libraries in tests.
  /usr/bin/python3 -m venv build/venv
  # shellcheck disable=SC2046
  build/venv/bin/pip install --quiet --disable-pip-version-check $(packages pypi)
  cp scripts/packages.txt "$stamp"
}

# build PRESET [TARGET...]
build() {
  local preset=$1 dir=build
  shift
  [ "$preset" = release ] || dir=build-$preset
  if [ ! -f "$dir/build.ninja" ]; then
    say "configuring $dir"
    cmake --preset "$preset" >"$dir.configure.log" 2>&1 || { cat "$dir.configure.log" >&2; exit 1; }
    mv "$dir.configure.log" "$dir/configure.log"
  fi
  say "building $dir"
  # Linking against libMLIR.so takes little memory, so all cores may be used.
  ninja -C "$dir" "$@" >&2
}
