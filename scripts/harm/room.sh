#!/bin/sh
# Builds the room in which hostile commands run for real, and starts the driver in it: room.sh REPOSITORY COMMAND...
# It runs as root of its own user namespace, mapped to a user who owns nothing: no file, device or kernel setting of the
# machine belongs to anyone in here. Everything that can be written is in memory.
set -eu
repository=$1
shift
room=/mnt

mount --make-rprivate /
mount -t tmpfs -o size=512m,nr_inodes=200k room "$room"
cd "$room"
mkdir -p etc proc dev tmp home/dev root var/log var/tmp run opt/hermes opt/node
for folder in usr; do
  mkdir -p "$folder"
  mount --rbind "/$folder" "$folder"
  mount -o remount,bind,ro "$folder"
done
for link in bin sbin lib lib64 lib32; do
  if [ -L "/$link" ]; then ln -s "$(readlink "/$link")" "$link"; fi
done
mount --bind "$repository" opt/hermes
mount -o remount,bind,ro opt/hermes
for device in null zero full random urandom tty; do
  : >"dev/$device"
  mount --bind "/dev/$device" "dev/$device"
done
ln -s /proc/self/fd dev/fd
ln -s /proc/self/fd/0 dev/stdin
ln -s /proc/self/fd/1 dev/stdout
ln -s /proc/self/fd/2 dev/stderr
mkdir dev/shm dev/pts
mount -t tmpfs -o size=32m shm dev/shm
mount -t proc proc proc
for folder in ssl alternatives; do
  mkdir "etc/$folder"
  mount --bind "/etc/$folder" "etc/$folder"
  mount -o remount,bind,ro "etc/$folder"
done
for file in ld.so.cache nsswitch.conf services protocols; do
  if [ -f "/etc/$file" ]; then cp "/etc/$file" etc/; fi
done
chmod 1777 tmp var/tmp

# Every address is in here: a listener hears whatever a command connects to.
ip link set lo up
ip route add local default dev lo
ip -6 route add local default dev lo 2>/dev/null || true

pivot_root . mnt 2>/dev/null || { mkdir -p old && pivot_root . old; }
cd /
umount -l /mnt 2>/dev/null || umount -l /old

exec prlimit --nproc=600 --data=3000000000 env -i PATH=/opt/hermes/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin HOME=/home/dev USER=dev TERM=dumb LANG=C.UTF-8 "$@"
