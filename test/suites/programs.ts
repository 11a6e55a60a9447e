import type { Part } from "./part.js";

/** Everyday programs: each is started, used and ended, and prints what it did. `$PWD` is an empty folder and its home. */

export const PROGRAM_PACKAGES =
  "chromium gdb git gnupg golang-go nginx-light openssh-client openssh-server perl php-cli postgresql python3 redis-server ruby strace tmux vim-tiny".split(
    " ",
  );

const part = (name: string, script: string, seconds = 60): Part => ({
  name,
  script: `export HOME=$PWD; exec 2>&1; ${script.trim()}`,
  seconds,
});

export const PROGRAMS: readonly Part[] = [
  part(
    "ssh-agent",
    `ssh-keygen -q -t ed25519 -N '' -f key -C me && eval "$(ssh-agent -a $PWD/agent)" > /dev/null && ssh-add key &&
     ssh-add -l | cut -d' ' -f3- && ssh-add -D && ssh-agent -k | sed 's/[0-9]\\+/N/'`,
  ),
  part(
    "gpg",
    `mkdir -m 700 .gnupg && echo text > f &&
     gpg --batch --quiet --passphrase '' --quick-generate-key me default default never 2>/dev/null; echo generated $? &&
     gpg --batch --quiet -o f.sig --detach-sign f && gpg --batch --quiet --verify f.sig f > /dev/null 2>&1; echo verified $?
     gpgconf --kill all; echo ended $?`,
    120,
  ),
  part(
    "tmux",
    `unset TMUX; tmux -S $PWD/s -f /dev/null new-session -d -x 80 -y 24 'cat' && tmux -S $PWD/s send-keys 'typed here' Enter &&
     until tmux -S $PWD/s capture-pane -p | grep -q 'typed here'; do :; done; tmux -S $PWD/s kill-server; echo $?`,
  ),
  part(
    "vim",
    `printf 'one\\ntwo\\n' > f && vim.tiny -u NONE -N -es -c '%s/one/three/' -c 'normal Gofour' -c 'wq' f; echo $?; cat f; ls -A`,
  ),
  part(
    "nginx",
    `mkdir w && echo body > w/f && printf 'daemon off; pid %s/pid; error_log %s/err; events {} http { access_log off;
     client_body_temp_path %s/t1; proxy_temp_path %s/t2; fastcgi_temp_path %s/t3; uwsgi_temp_path %s/t4; scgi_temp_path %s/t5;
     server { listen unix:%s/s; root %s/w; } }' $PWD $PWD $PWD $PWD $PWD $PWD $PWD $PWD $PWD > c && chmod 755 . && { nginx -c $PWD/c & } &&
     until [ -S s ]; do sleep 0.1; done; curl -s --unix-socket s http://x/f; curl -s -o /dev/null -w '%{http_code}\\n' --unix-socket s http://x/none
     nginx -c $PWD/c -s quit > /dev/null 2>&1; wait; echo $?`,
  ),
  part(
    "postgres",
    `bin=$(ls -d /usr/lib/postgresql/*/bin | tail -1); as=; [ "$(id -u)" = 0 ] && { chmod 755 .. . && mkdir d && chown postgres d && as='setpriv --reuid=postgres --regid=postgres --clear-groups env HOME=/'; cd d; }
     $as $bin/initdb -D p -A trust > /dev/null && $as $bin/pg_ctl -D p -w -o "-k $PWD -h ''" -l log start > /dev/null; echo started $?
     $as psql -h $PWD -d postgres -At -c 'create table t as select generate_series(1,1000) i; select count(*), sum(i) from t'
     $as $bin/pg_ctl -D p -w -m fast stop > /dev/null; echo stopped $?`,
    120,
  ),
  part(
    "redis",
    `redis-server --port 0 --unixsocket $PWD/s --save '' --daemonize no --logfile log --dir $PWD & until [ -S s ]; do sleep 0.1; done
     redis-cli -s s set k v; redis-cli -s s get k; redis-cli -s s shutdown nosave; wait; echo $?`,
  ),
  part(
    "perl",
    `perl -e 'my $p = fork; if (!$p) { exec "echo", "child" } waitpid $p, 0; print $?, " ", -e "none" ? 1 : 0, "\\n"'`,
  ),
  part(
    "php",
    `echo '<?php file_put_contents("f", "x"); echo strlen(shell_exec("echo hi")), filesize("f"), "\\n";' > t.php && php t.php; echo $?`,
  ),
  part(
    "ruby",
    `ruby -rsocket -e 's = UNIXServer.new("s"); t = Thread.new { s.accept.puts "hi" }; puts UNIXSocket.new("s").gets; t.join; puts \`echo sub\`'; echo $?`,
  ),
  part(
    "go",
    `export GOFLAGS=-mod=mod GOTOOLCHAIN=local GOCACHE=$PWD/c; printf 'package main\\nimport "fmt"\\nfunc main() { fmt.Println(6*7) }\\n' > m.go && go run m.go; echo $?`,
    200,
  ),
  part(
    "gdb",
    `gdb -batch -nx -ex starti -ex 'info registers rip' -ex continue /bin/true 2> /dev/null | grep -c 'exited normally'; echo $?`,
  ),
  part("strace", `strace -f -o t sh -c 'true; ls / > /dev/null'; echo $?; grep -c execve t`),
  part(
    "chromium",
    `for s in '' --no-sandbox; do [ "$(id -u)" = 0 ] && [ -z "$s" ] && continue
       timeout 60 chromium --headless $s --disable-gpu --no-first-run --user-data-dir=$PWD/c --dump-dom 'data:text/html,<p id=x></p><script>x.textContent=6*7</script>' 2> /dev/null | grep -c '>42<'
     done`,
    150,
  ),
];
