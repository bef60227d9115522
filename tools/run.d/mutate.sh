# Sourced by run: installs universalmutator, which only the verb mutate uses, next to the roots. The pip of this machine is
# used, because it knows how to reach PyPI. Only one file of pure Python is needed, so neither the version of Python nor the
# dependencies of the package matter.
install_mutator() {
  local wanted=$project/tools/toolchain.d/mutation temporary
  mutator=$cache/mutation-$(sha256sum <"$wanted" | cut -c 1-12)
  [ ! -d "$mutator" ] || return 0
  mkdir -p "$cache"
  temporary=$(mktemp -d "$cache/mutation.XXXXXX")
  if ! python3 -m pip install --quiet --no-input --no-deps --target "$temporary" -r "$wanted" >"$cache/mutation.log" 2>&1; then
    rm -rf "$temporary"
    die "mutate needs universalmutator, and this machine's python3 -m pip cannot install it: see $cache/mutation.log"
  fi
  mv -T "$temporary" "$mutator"
}
