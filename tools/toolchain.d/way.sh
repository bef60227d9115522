# Sourced by tools/toolchain: how a command gets into the root. `choose_way` sets `way` and `prefix` (words
# before a command that works on the root), or dies with one line.
#   namespace  mounts in a private mount namespace: as root plainly, as anybody else as the root of a user namespace
#   proot      for the root of a container without CAP_SYS_ADMIN (Docker's default): proot rewrites the paths of every
#              system call through ptrace, which costs time
choose_way() {
  local said user
  way=namespace prefix=(unshare --mount --propagation private)
  if [ "$(id -u)" = 0 ]; then
    "${prefix[@]}" true 2>/dev/null || way=proot prefix=()
    return
  fi
  user=$(id -un) prefix+=(--map-root-user --map-auto)
  command -v newuidmap >/dev/null || die "as an ordinary user this needs newuidmap: have the package uidmap installed, or run as root"
  grep -qs -E "^($user|$(id -u)):" /etc/subuid || die "as an ordinary user this needs a range for $user in /etc/subuid and /etc/subgid: have root run usermod --add-subuids 100000-165535 --add-subgids 100000-165535 $user"
  said=$("${prefix[@]}" true 2>&1) ||
    die "this machine grants no mount namespace (${said#unshare: }): an ordinary user needs user namespaces (sysctl kernel.unprivileged_userns_clone, user.max_user_namespaces)"
}

prepare_way() { # before a command is run in the root
  [ "$way" = proot ] || return 0
  local said
  command -v proot >/dev/null || install_packages proot
  said=$(proot -r / /bin/true 2>&1) ||
    die "this container grants neither a mount namespace (CAP_SYS_ADMIN) nor ptrace (CAP_SYS_PTRACE), which proot needs: $(head -n 1 <<<"$said")"
  echo "toolchain: no mount namespace is granted here, so commands run under proot, which makes them slower; result files and reports mark their timings" >&2
}
