# Sourced by run: chooses the machine's own toolchain or the Debian root, and enters the latter. GRADCOMP_TOOLCHAIN_ACTIVE says
# that the choice was made (and, for a Debian root, that this shell is inside).
[ -n "${XDG_CACHE_HOME:-}${HOME:-}" ] || die "HOME is not set: set it, or XDG_CACHE_HOME, to a folder for the toolchain"
cache=${XDG_CACHE_HOME:-$HOME/.cache}/gradcomp
mkdir -p "$cache" 2>/dev/null && [ -w "$cache" ] || die "cannot write '$cache': set XDG_CACHE_HOME to another folder"

probe_system() { # configures a project that only looks for the dependencies
  { command -v cmake && command -v ninja; } >/dev/null || { echo "no cmake or no ninja on PATH" >"$cache/probe.log" && return 1; }
  local scratch status=0
  scratch=$(mktemp -d)
  cmake -G Ninja -S "$project/tools/run.d/probe" -B "$scratch" >"$cache/probe.log" 2>&1 || status=1
  rm -rf "$scratch"
  return $status
}

system_is_complete() { # the probe takes seconds, so its answer is kept until something that it depends on changes
  local key answer kernels devices
  key=$({
    env | grep -E '^(PATH|CMAKE_PREFIX_PATH|CC|CXX|LOADEDMODULES|SPACK_ENV|.*_(ROOT|DIR))=' | sort || true
    cat "$project/cmake/Dependencies.cmake" "$project/tools/run.d/probe/CMakeLists.txt"
    stat -c %Y /var/lib/dpkg/status 2>/dev/null || true
  } | sha256sum)
  answer=$cache/probe-${key:0:12}
  if [ ! -e "$answer" ]; then
    if probe_system; then sed -n 's/^-- found: /yes /p' "$cache/probe.log"; else echo no; fi >"$answer.$$"
    mv "$answer.$$" "$answer"
  fi
  read -r answer kernels devices <"$answer"
  [ "$answer" = yes ] || return 1
  export GRADCOMP_KOKKOS_KERNELS=${GRADCOMP_KOKKOS_KERNELS:-$kernels} GRADCOMP_KOKKOS_DEVICES=$devices
}

has_gpu() { # whether the tool of a vendor lists one
  local listed
  listed=$({ nvidia-smi -L || rocm-smi --showid; } 2>/dev/null) && grep '^GPU' <<<"$listed" >/dev/null
}

enter_toolchain() {
  [ -z "${GRADCOMP_TOOLCHAIN_ACTIVE:-}" ] || return 0
  local wish=${GRADCOMP_TOOLCHAIN:-auto}
  # A compile check uses the headers of Debian's Kokkos, which is built for no GPU, unless the caller chooses otherwise.
  # Fuzzing needs a clang beside the libraries, which few machines have.
  if [ "$wish" = auto ] && [[ "$1 ${2:-}" == @('build '*-compile*|'build fuzz'|'fuzz '*) ]]; then wish=debian; fi
  if [ "$wish" != debian ] && system_is_complete; then
    export GRADCOMP_TOOLCHAIN_ACTIVE=system
    return
  fi
  if [ "$wish" = system ]; then die "CMake does not find every dependency on this machine: see $cache/probe.log and docs/dependencies.md"; fi
  if [ "$wish $1 ${GRADCOMP_PRESET:-}" = 'auto device-check ' ] && has_gpu; then
    die "CMake does not find every dependency for this machine's GPU: see $cache/probe.log and docs/devices.md; GRADCOMP_PRESET=openmp checks the CPU"
  fi
  export GRADCOMP_TOOLCHAIN_ACTIVE=debian
  local root=main
  if [[ "$1 ${2:-}" == @('build hip-compile'*|'build fuzz'|'fuzz '*) ]]; then root=hip; fi
  exec "$project/tools/toolchain" --root "$root" exec -- "$project/run" "$@"
}
