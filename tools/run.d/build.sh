# Sourced by run: configures and builds a preset.
cores() { env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc; } # nproc would answer with OMP_NUM_THREADS

launchers() { # launchers PRESET: CMake's options for ccache, one a line
  command -v ccache >/dev/null || return 0
  local compiler=${CXX:-}
  # A Kokkos for GPUs replaces a host compiler by the device's, but does not find one that follows ccache (kokkos issue 4821).
  case $1:${compiler##*/} in
    cuda:nvcc_wrapper | hip:hipcc) ;;
    cuda:* | hip:*) return 0 ;;
  esac
  printf -- '-DCMAKE_%s_COMPILER_LAUNCHER=ccache\n' CXX CUDA HIP
}

configure() { # configure PRESET: only if something that influences the configuration has changed
  local preset=$1 directory=$project/build/$1 options=() wanted clang
  case $preset in
    openmp) options+=(-DGRADCOMP_NATIVE_ARCH=ON) ;; # runs on the machine that builds it; the other presets are portable
    hip-compile* | fuzz) # the root for HIP holds one clang, whose name ends in its version
      clang=$(compgen -c clang++- | sort -V | tail -n 1)
      if [ -n "$clang" ]; then options+=(-DCMAKE_CXX_COMPILER="$clang"); fi
      if [ -n "$clang" ] && [ "$preset" != fuzz ]; then options+=(-DCMAKE_HIP_COMPILER="$(command -v "$clang")"); fi
      [ ! -d /opt/rccl/usr ] || options+=(-DCMAKE_PREFIX_PATH=/opt/rccl/usr)
      ;;
    serial-kk | tsan) [ ! -d /opt/trilinos/usr ] || options+=(-DCMAKE_PREFIX_PATH=/opt/trilinos/usr) ;;
  esac
  if [ -n "${GRADCOMP_KOKKOS_KERNELS:-}" ]; then # the machine's own toolchain; otherwise as the preset says
    options+=(-DGRADCOMP_ENABLE_KOKKOS_KERNELS="$GRADCOMP_KOKKOS_KERNELS")
  fi
  if [ -n "${GRADCOMP_NCCL:-}" ]; then options+=(-DGRADCOMP_ENABLE_NCCL="$GRADCOMP_NCCL"); fi
  if [ "${GRADCOMP_WERROR:-0}" = 1 ]; then options+=(-DGRADCOMP_ENABLE_WERROR=ON); fi
  mapfile -t -O "${#options[@]}" options < <(launchers "$preset")
  wanted="$GRADCOMP_TOOLCHAIN_ACTIVE ${options[*]} $(cksum <"$project/CMakePresets.json")"
  if [ -e "$directory/build.ninja" ] && [ "$(cat "$directory/.configured" 2>/dev/null)" = "$wanted" ]; then return; fi
  cd "$project"
  cmake --preset "$preset" --fresh "${options[@]}" >"$cache/configure.log" 2>&1 ||
    { sed -n '/CMake Error/,$p' "$cache/configure.log" >&2 && die "CMake cannot configure $preset"; }
  printf %s "$wanted" >"$directory/.configured"
}

build() ( # build PRESET [TARGET...]
  preset=$1
  shift
  # A precompiled header holds the time at which it was made, and other clones have other paths. Neither changes a result.
  export CCACHE_DIR=${CCACHE_DIR:-$cache/ccache} CCACHE_BASEDIR=$project CCACHE_NOHASHDIR=1 CCACHE_PCH_EXTSUM=1 \
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime \
    NINJA_STATUS=${NINJA_STATUS:-"[$preset %f/%t, %es] "}
  # Clang's preprocessor cannot read HIP's precompiled header; the list of dependencies is as good for the cache.
  case $preset in hip-compile*) export CCACHE_DEPEND=1 ;; esac
  configure "$preset"
  exec cmake --build "$project/build/$preset" -j "${GRADCOMP_JOBS:-$(cores)}" ${1:+--target "$@"}
)
