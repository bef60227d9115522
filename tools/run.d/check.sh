# Sourced by run: compiles for GPUs on a machine without one. Each preset uses the root that has its compiler.
lacks_compiler() { # lacks_compiler PRESET: such a build succeeds, but compiles nothing (cmake/CompileOnly.cmake)
  grep -Eq '^CMAKE_(CUDA|HIP)_COMPILER:[A-Z]+=(.*-)?NOTFOUND$' "$project/build/$1/CMakeCache.txt"
}

check() { # check [--all]
  local compiled=(cuda-compile hip-compile) passed=() preset status=0 report=$project/results/check/registers.md
  if [ "${1:-}" = --all ]; then
    compiled+=(cuda-compile-tests cuda-compile-sm_80 cuda-compile-sm_100 hip-compile-gfx942)
  fi
  rm -f "$report"
  for preset in "${compiled[@]}"; do
    if ! "$project/run" build "$preset"; then
      echo "run: $preset: failed" >&2
      status=1
    elif lacks_compiler "$preset"; then
      echo "run: $preset: skipped: no compiler"
    else
      echo "run: $preset: passed"
      passed+=("$preset")
    fi
  done
  if [[ " ${passed[*]} " == *' cuda-compile '* ]]; then
    "$project/run" exec -- "$project/tools/kernel_registers" "$project/build/cuda-compile" \
      --limits "$project/docs/baselines/registers.json" --output "$report" || status=1
    if [ -e "$report" ]; then sed -n 1p "$report"; fi
  fi
  return $status
}
