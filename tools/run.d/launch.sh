# Sourced by run: the environment in which programs run. Variables that the user has set are kept.
mpi_environment() { # mpi_environment RANKS THREADS: threads of each rank, without its communication thread
  export PATH=$project/build/${GRADCOMP_PRESET:-openmp}/bin:$PATH OPENBLAS_NUM_THREADS=${OPENBLAS_NUM_THREADS:-1}
  # Variables and not options, because other MPIs ignore them. More ranks than cores are allowed, and no rank is bound to one
  # core, where all of its threads would run.
  export PRTE_MCA_rmaps_default_mapping_policy=${PRTE_MCA_rmaps_default_mapping_policy:-:oversubscribe} \
    PRTE_MCA_hwloc_default_binding_policy=${PRTE_MCA_hwloc_default_binding_policy:-none} \
    OMPI_MCA_rmaps_base_oversubscribe=${OMPI_MCA_rmaps_base_oversubscribe:-1} \
    OMPI_MCA_hwloc_base_binding_policy=${OMPI_MCA_hwloc_base_binding_policy:-none}
  if [ "$GRADCOMP_TOOLCHAIN_ACTIVE" = debian ]; then # one host: no network device is probed. A cluster's MPI knows its own
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
      OMPI_MCA_pml=${OMPI_MCA_pml:-ob1} OMPI_MCA_btl=${OMPI_MCA_btl:-self,sm}
  fi
  if ! grep -q '^TracerPid:.0$' /proc/self/status; then # under proot, PMIx does not get the addresses that it wants to map
    export PMIX_MCA_gds=${PMIX_MCA_gds:-hash}
  fi
  if [ "$1" -gt 1 ] && [ $(($1 * ($2 + 1))) -gt "$(cores)" ]; then # who waits in MPI leaves the core to who computes
    export OMPI_MCA_mpi_yield_when_idle=${OMPI_MCA_mpi_yield_when_idle:-1}
  fi
  if [ $(($1 * $2)) -gt "$(cores)" ]; then # wanted, so Kokkos need not warn of it
    export KOKKOS_DISABLE_WARNINGS=${KOKKOS_DISABLE_WARNINGS:-1}
  fi
}

# mpirun puts a pipe between the programs and the terminal, so they are told that there is one, and how wide it is.
progress_environment() {
  local columns
  [ -t 2 ] || return 0
  read -r _ columns < <(stty size <&2) || columns=80
  export GRADCOMP_PROGRESS=${GRADCOMP_PROGRESS:-always} COLUMNS=${COLUMNS:-$columns}
}

thread_environment() { # thread_environment RANKS: ranks x threads fit the cores
  local ranks=$1 have fit
  have=$(cores)
  fit=$((have / ranks))
  [ "$fit" -ge 1 ] || fit=1
  export OMP_NUM_THREADS=${OMP_NUM_THREADS:-$fit}
  if [ "$OMP_NUM_THREADS" -gt "$fit" ] && [ "$OMP_NUM_THREADS" -gt 1 ] && [ "${OMP_WAIT_POLICY:-}" != passive ]; then
    usage_error "$ranks ranks x $OMP_NUM_THREADS threads do not fit $have cores and would spin on each other: set OMP_NUM_THREADS to $fit or OMP_WAIT_POLICY=passive"
  fi
  if [ "$ranks" = 1 ] && [ "$OMP_NUM_THREADS" -le "$have" ]; then
    export OMP_PROC_BIND=${OMP_PROC_BIND:-spread} OMP_PLACES=${OMP_PLACES:-cores}
  else
    export OMP_PROC_BIND=${OMP_PROC_BIND:-false} # several ranks would all bind to the same first cores
  fi
  mpi_environment "$ranks" "$OMP_NUM_THREADS"
}
