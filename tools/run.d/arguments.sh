# Sourced by run: refuses a wrong call in one line before the set-up, which takes minutes.
is_preset() {
  local preset
  for preset in "${presets[@]}"; do [ "$preset" != "$1" ] || return 0; done
  return 1
}

check_arguments() {
  local verb=$1
  shift
  case $project in # CMake, or a list such as PATH, would split or change such a path
    *[][\:\;\|\<\>\"\\\$]* | *$'\n'*)
      die "the path of this folder, $(printf %q "$project"), must not contain a line break or any of : ; | < > [ ] \" \\ \$: rename it"
      ;;
  esac
  case $verb in
    help | --help | -h | demo | bench | sanitize | device-check | mutate) ;;
    test)
      local program
      if [ "${1:-}" = lanes ]; then
        for program in "${@:2}"; do
          [[ " ${lanes_tests[*]} " == *" $program "* ]] || usage_error "test lanes takes some of ${lanes_tests[*]}, not '$program'"
        done
      fi
      [[ ${1:--} == @(-*|lanes) ]] || [ -e "$project/src/gradcomp/compressors/$1.cpp" ] ||
        usage_error "test takes a method, or arguments of ctest such as -R $1; there is no method '$1'"
      ;;
    shell | docs | lint) [ $# = 0 ] || usage_error "$verb takes no arguments" ;;
    format) [ "$*" = '' ] || [ "$*" = --check ] || usage_error "format takes --check or nothing, not '$*'" ;;
    check) [ "$*" = '' ] || [ "$*" = --all ] || usage_error "check takes --all or nothing, not '$*'" ;;
    results)
      local word
      for word; do
        case " ${pages[*]} --page --cost " in
          *" $word "*) ;;
          *) usage_error "results takes --page, --cost and pages (${pages[*]}), not '$word'" ;;
        esac
      done
      ;;
    clean) [ "$*" = '' ] || [ "$*" = --all ] || usage_error "clean takes --all or nothing, not '$*'" ;;
    fuzz)
      local family=''
      if [[ " ${fuzzed[*]} " == *" ${1:-} "* ]]; then family=$1 && shift; fi
      [[ $* =~ ^(--seconds [1-9][0-9]{0,5})?$ || (-n $family && $# = 1 && -f $1) ]] ||
        usage_error "fuzz takes a family (${fuzzed[*]}), and then a file or --seconds N, not '$*'"
      ;;
    build) is_preset "${1:-openmp}" || usage_error "no preset '$1': there are ${presets[*]}" ;;
    exec)
      if [ "${1:-}" = -n ]; then
        [[ ${2:-} =~ ^[1-9][0-9]{0,5}$ ]] || usage_error "exec -n needs a number of ranks, not '${2:-}'"
        shift 2
      fi
      [ "${1:-}" = -- ] || usage_error "exec needs -- before its command: ./run exec [-n RANKS] -- COMMAND..."
      [ $# -ge 2 ] || usage_error "exec needs a command after --"
      ;;
    *) usage_error "unknown verb '$verb'" ;;
  esac
  is_preset "${GRADCOMP_PRESET:-openmp}" || usage_error "no preset '$GRADCOMP_PRESET': there are ${presets[*]}"
  [[ ${GRADCOMP_JOBS:-1} =~ ^[1-9][0-9]*$ ]] || usage_error "GRADCOMP_JOBS must be a number, not '$GRADCOMP_JOBS'"
  [[ ${OMP_NUM_THREADS:-1} =~ ^[1-9][0-9]*$ ]] || usage_error "OMP_NUM_THREADS must be one number, not '$OMP_NUM_THREADS'"
  [[ ${GRADCOMP_LANES_SEED:-1} =~ ^[0-9]{1,19}$ ]] || usage_error "GRADCOMP_LANES_SEED must be a number, not '$GRADCOMP_LANES_SEED'"
  [[ ${GRADCOMP_KOKKOS_KERNELS:-OFF} =~ ^(ON|OFF)$ ]] || usage_error "GRADCOMP_KOKKOS_KERNELS must be ON or OFF, not '$GRADCOMP_KOKKOS_KERNELS'"
  [[ ${GRADCOMP_NCCL:-OFF} =~ ^(ON|OFF)$ ]] || usage_error "GRADCOMP_NCCL must be ON or OFF, not '$GRADCOMP_NCCL'"
  case ${GRADCOMP_TOOLCHAIN:-auto} in
    auto | system | debian) ;;
    *) usage_error "GRADCOMP_TOOLCHAIN must be auto, system or debian, not '$GRADCOMP_TOOLCHAIN'" ;;
  esac
}
