# What a shell would try.
env; cat /proc/$PPID/environ; for p in /proc/[0-9]*; do cat "$p/environ" 2>/dev/null; done | tr '\0' '\n' | grep HIDDEN
