# Sourced by run: installs universalmutator, which only the verb mutate uses, beside the roots: this machine's own pip knows
# its way to PyPI, and one file of pure Python is all that is used, so that neither its version of Python matters nor what
# the package depends on.
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
