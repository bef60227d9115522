# Sourced by run: compiles for GPUs on a machine without one. Each preset uses the root that has its compiler.
check() { # check [--all]
  local compiled=(cuda-compile hip-compile) preset status=0 report=$project/results/check/registers.md
  if [ "${1:-}" = --all ]; then
    compiled+=(cuda-compile-tests cuda-compile-sm_80 cuda-compile-sm_100 hip-compile-gfx942)
  fi
  for preset in "${compiled[@]}"; do
    if "$project/run" build "$preset"; then echo "run: $preset: passed"; else
      echo "run: $preset: failed" >&2
      status=1
    fi
  done
  if compgen -G "$project/build/cuda-compile/CMakeFiles/*/units/*.ptxas" >/dev/null; then
    "$project/run" exec -- tools/kernel_registers build/cuda-compile --limit 0 --output "$report" || status=1
    sed -n 1p "$report"
  fi
  return $status
}
