# The dynamic loader runs what it is told to, without an execve of it.
for ld in /lib64/ld-linux-x86-64.so.2 /lib/x86_64-linux-gnu/ld-linux-x86-64.so.2; do $ld "${A_FORBIDDEN%/*}/dynamic"; done
