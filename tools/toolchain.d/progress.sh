# Sourced by tools/toolchain. follow LOG PID: shows how far the recipe behind LOG is until process PID ends: one line that
# is rewritten on a terminal, one line a phase otherwise.
expected_events=1445 # packages fetched + unpacked + set up by the present list; only the bar depends on it

phase_of() {
  case $1 in
    *'apt-get update'*) echo 'reading the package lists' ;;
    *'downloading packages'* | *'extracting archives'* | *'essential packages'*) echo 'base system' ;;
    *'remaining packages'*) echo 'compiler, libraries and tools' ;;
    *'unpacking Kokkos Kernels'*) echo 'Kokkos Kernels' ;;
    *'unpacking RCCL'*) echo 'RCCL' ;;
    *'installing from PyPI'*) echo 'what comes from PyPI' ;;
    *'cleaning'*) echo 'cleaning up' ;;
    *) echo 'starting' ;;
  esac
}

bar() { # bar PERCENT
  local filled=$(($1 * 30 / 100))
  printf '%*s' "$filled" '' | tr ' ' '#'
  printf '%*s' $((30 - filled)) '' | tr ' ' '.'
}

follow() {
  local log=$1 pid=$2 began=$SECONDS shown='' phase events percent
  while :; do
    phase=$(phase_of "$(grep -E '^I: (running apt|down|extr|inst|unpack|clean)' "$log" | tail -n 1)")
    if [ -t 2 ]; then
      events=$(grep -c -E '^(Get:|Unpacking |Setting up )' "$log") || true
      percent=$((events * 100 / expected_events))
      [ "$percent" -le 99 ] || percent=99
      printf '\r  [%s] %2d %%  %3d s  %-30s' "$(bar "$percent")" "$percent" $((SECONDS - began)) "$phase" >&2
    elif [ "$phase" != "$shown" ]; then
      shown=$phase
      printf '  %3d s  %s\n' $((SECONDS - began)) "$phase" >&2
    fi
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.5
  done
  if [ -t 2 ]; then printf '\r%79s\r' '' >&2; fi
}
