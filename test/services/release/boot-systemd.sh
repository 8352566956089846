#!/bin/sh
# boot-systemd.sh WORK NODE: boots systemd on a root of its own, in namespaces for processes, mounts, IPC, the host name
# and the control group. WORK is an empty folder, and NODE becomes /usr/bin/node. The network is shared, and nothing inside
# may configure it. SIGTERM, or the end of systemd, ends everything. To be started by `unshare --mount`.
set -eu
work=$1 node=$2 self=$(readlink -f "$0")

# The second half of this file, as the first process of its namespaces.
if [ "${3:-}" = inside ]; then
  # Of the machine's process table, which is still mounted.
  read -r pid _ < /proc/self/stat
  root=$work/root
  mkdir "$root" "$work/usr"
  mount --bind "$root" "$root"
  mount -t tmpfs tmpfs "$work/usr"
  mkdir "$work/usr/upper" "$work/usr/work"
  cd "$root"
  mkdir usr etc run tmp var proc sys dev root opt old
  # The programs of this machine, of which it may change what it likes.
  mount -t overlay -o "lowerdir=/usr,upperdir=$work/usr/upper,workdir=$work/usr/work" overlay usr
  for link in bin sbin lib lib64; do
    [ ! -L "/$link" ] || ln -s "usr/$link" "$link"
  done
  rm -f usr/bin/node
  touch usr/bin/node
  mount --bind "$node" usr/bin/node
  # A machine on which nothing is enabled, so that it starts nothing of this one. With an ID, as it is not the first boot.
  cp -a /etc/. etc
  rm -rf etc/systemd etc/fstab etc/machine-id
  mkdir -p etc/systemd/system
  tr -d - < /proc/sys/kernel/random/uuid > etc/machine-id
  chmod 1777 tmp
  mount -t proc proc proc
  mount --bind proc/sys proc/sys
  mount -o remount,bind,ro proc/sys
  mount -t sysfs -o ro sysfs sys
  mount -t cgroup2 cgroup2 sys/fs/cgroup
  mount -t tmpfs -o mode=755 tmpfs run
  mount -t tmpfs -o mode=755 tmpfs dev
  for name in null zero full random urandom tty; do
    touch "dev/$name"
    mount --bind "/dev/$name" "dev/$name"
  done
  mkdir dev/pts dev/shm
  mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
  ln -s pts/ptmx dev/ptmx
  ln -s /proc/self/fd dev/fd
  hostname postern-test
  echo "$pid" > "$work/pid"
  pivot_root . old
  umount -l old
  exec setpriv --bounding-set=-net_admin,-sys_module,-sys_boot,-sys_time,-sys_rawio,-syslog,-mac_admin,-audit_control \
    env -i container=postern-test PATH=/usr/sbin:/usr/bin \
    /lib/systemd/systemd --unit=multi-user.target --log-target=journal --show-status=no
fi

# A control group below the present one, which becomes the root of its namespace.
mkdir "$work/groups"
mount -t cgroup2 none "$work/groups"
group=$work/groups$(sed -n 's/^0:://p' /proc/self/cgroup)/postern-test-$$
mkdir "$group"
systemd=
end() {
  [ -z "$systemd" ] || kill -KILL "$systemd" 2> /dev/null || true
  wait || true
  # Its processes may still be ending.
  tries=0
  until find "$group" -depth -type d -exec rmdir {} + 2> /dev/null || [ "$tries" -ge 100 ]; do
    tries=$((tries + 1))
    sleep 0.1
  done
}
trap end EXIT
trap 'exit 143' TERM
sh -c 'echo $$ > "$1/cgroup.procs"; shift; exec "$@"' sh "$group" \
  unshare --mount --pid --uts --ipc --cgroup --fork --kill-child sh "$self" "$work" "$node" inside &
systemd=$!
wait "$systemd"
