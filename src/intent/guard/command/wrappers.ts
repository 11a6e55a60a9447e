import { optionTable } from "./arguments.js";

/** A program that runs another one, and how to find the other one among its words. */
interface Wrapper {
  /** Operands before the command: `timeout 5 CMD` has one, `docker exec CONTAINER CMD` two. */
  readonly skip?: number;
  /** First operands without which it wraps nothing: `docker exec`, `npm exec`. */
  readonly only?: string;
  /** Options whose value is a shell script. */
  readonly scripts?: string;
  /** A shell reads the joined operands, as with `ssh` and `watch`. */
  readonly joined?: boolean;
  /** `NAME=value` operands come before the command. */
  readonly assigns?: boolean;
  /** Every operand is a script of its own, as with `concurrently`. */
  readonly each?: boolean;
  /** The words after this option are the command. */
  readonly after?: string;
  /** Only options run something; operands do not. */
  readonly none?: boolean;
  /** A word between the wrapper's operands and the command: `kubectl exec POD -- CMD`. */
  readonly separator?: boolean;
}

/** Names of the programs, and how they wrap. Options with values are in the table below. */
const ROWS: readonly (readonly [names: string, wrapper: Wrapper])[] = [
  ["nohup nice ionice setsid stdbuf time fakeroot torsocks torify proxychains proxychains4 catchsegv", {}],
  [
    "command builtin exec winpty chronic sem dbus-run-session dbus-launch xvfb-run systemd-inhibit caffeinate",
    {},
  ],
  [
    "strace ltrace valgrind prlimit numactl setarch linux32 linux64 i386 x86_64 eatmydata unbuffer rlwrap cpulimit heaptrack logsave multitime mpirun mpiexec srun ccache distcc sccache bear scan-build intercept-build env-cmd ssh-agent xinit daemonize kitty foot orb wsl s6-envdir",
    {},
  ],
  ["perf rr", { only: "stat record trace mem c2c lock sched kmem", skip: 1 }],
  ["faketime s6-setuidgid envdir timelimit", { skip: 1 }],
  ["watchexec nodemon", { scripts: "-x --exec", joined: true }],
  ["concurrently", { each: true, scripts: "--teardown" }],
  ["cmake", { only: "env time chdir", skip: 1 }],
  ["ip", { only: "netns", skip: 3 }],
  ["fzf", { none: true, scripts: "--preview --bind --with-shell" }],
  ["bat less delta", { none: true, scripts: "--pager" }],
  ["yt-dlp youtube-dl", { none: true, scripts: "--exec --exec-before-download" }],
  ["sbatch qsub bsub", { scripts: "--wrap", joined: true }],
  ["terminator wezterm zellij lldb", { separator: true, skip: 9 }],
  ["unshare nsenter setpriv firejail bwrap proot fakechroot cgexec systemd-run systemd-cat machinectl", {}],
  ["gosu su-exec chpst setuidgid softlimit envdir", { skip: 1 }],
  ["sudo doas pkexec run0", { assigns: true }],
  ["env cross-env dotenv", { assigns: true }],
  ["cross-env-shell", { assigns: true, joined: true }],
  ["envchain", { skip: 1 }],
  ["dotenvx doppler infisical op teller", { only: "run", skip: 1, scripts: "--command" }],
  ["aws-vault chamber", { only: "exec", skip: 2, separator: true }],
  [
    "timeout gtimeout chroot taskset chrt flock lockf schedtool cset retry",
    { skip: 1, scripts: "-c --command" },
  ],
  ["ssh mosh sshpass autossh rsh slogin dbclient", { skip: 1, joined: true }],
  ["watch entr", { joined: true }],
  ["entr", { none: true, scripts: "-s" }],
  ["hyperfine", { each: true, scripts: "--prepare --cleanup --setup --conclude -p -c -s" }],
  ["su runuser sg newgrp", { scripts: "-c --command --session-command" }],
  ["script", { scripts: "-c --command", skip: 1 }],
  ["xterm gnome-terminal konsole alacritty urxvt st x-terminal-emulator", { scripts: "-e -x --command" }],
  ["screen dtach abduco", {}],
  [
    "tmux",
    {
      only: "new new-session new-window neww split-window splitw respawn-pane run-shell run send-keys pipe-pane if-shell",
      skip: 1,
      joined: true,
    },
  ],
  ["docker podman nerdctl", { only: "exec", skip: 2 }],
  ["docker podman nerdctl", { only: "run create", skip: 2 }],
  ["docker podman nerdctl", { only: "compose", skip: 3 }],
  ["docker-compose", { only: "exec run", skip: 2 }],
  ["kubectl oc k3s", { only: "exec run debug", skip: 2, separator: true }],
  ["lxc incus", { only: "exec", skip: 2, separator: true }],
  ["lxc-attach systemd-nspawn toolbox distrobox flatpak-spawn", {}],
  ["vagrant", { only: "ssh", scripts: "-c --command" }],
  ["heroku flyctl fly", { only: "run ssh", skip: 1, scripts: "-C --command", joined: true }],
  ["gcloud", { only: "compute", scripts: "--command" }],
  ["npm pnpm", { only: "exec x dlx", skip: 1, scripts: "-c --call" }],
  ["npx bunx pnpx", { scripts: "-c --call" }],
  ["yarn", { only: "exec run dlx", skip: 1 }],
  [
    "poetry pipenv uv pdm hatch rye conda mamba micromamba bundle rbenv pyenv asdf mise devbox pixi composer lerna nx devcontainer",
    { only: "run exec x", skip: 1 },
  ],
  ["direnv nvm", { only: "exec run", skip: 2 }],
  ["fnm", { only: "exec", skip: 1 }],
  ["gh", { only: "codespace cs", separator: true, skip: 9 }],
  ["nix just", { after: "-c --command" }],
  ["xterm konsole alacritty urxvt st terminator x-terminal-emulator", { after: "-e -x" }],
  ["volta multipass limactl", { only: "run exec shell", skip: 2 }],
  ["bun deno", { only: "x run", skip: 1 }],
  ["nix-shell", { scripts: "--run --command" }],
  ["capsh", { scripts: "-c" }],
];

/** A row with its lists split. */
export interface Unwrapping extends Omit<Wrapper, "only" | "scripts" | "after"> {
  readonly only?: readonly string[];
  readonly scripts?: readonly string[];
  readonly after?: readonly string[];
}

const table = new Map<string, Unwrapping[]>();
for (const [names, { only, scripts, after, ...rest }] of ROWS) {
  const row: Unwrapping = {
    ...rest,
    ...(only && { only: only.split(" ") }),
    ...(scripts && { scripts: scripts.split(" ") }),
    ...(after && { after: after.split(" ") }),
  };
  for (const name of names.split(" ")) table.set(name, [...(table.get(name) ?? []), row]);
}

const NONE: readonly Unwrapping[] = [];

export const wrappersOf = (program: string): readonly Unwrapping[] => table.get(program) ?? NONE;

/** Options of wrappers that take a value: without this table, `sudo -u root rm` would seem to run `root`. */
export const wrapperOptions = optionTable({
  sudo: "-u -g -p -C -D -h -R -r -t -T -U --user --group --prompt --chdir --host --role --type --close-from",
  doas: "-u -C",
  "run0 pkexec": "--user --uid --gid -u",
  env: "-u -C -S --unset --chdir --split-string",
  nice: "-n --adjustment",
  ionice: "-c -n -p -P -u --class --classdata",
  "timeout gtimeout": "-s -k --signal --kill-after",
  stdbuf: "-i -o -e --input --output --error",
  time: "-f -o --format --output",
  "strace ltrace": "-e -o -p -s -u -E -a -P -I -b",
  "valgrind perf": "-o -e -p",
  "numactl prlimit": "-C -N -m -p --cpunodebind --membind --physcpubind",
  "unshare nsenter":
    "-S -G -t -w -R --target --map-user --map-group --root --wd --propagation --setuid --setgid",
  setpriv: "--reuid --regid --groups --inh-caps --ambient-caps --bounding-set",
  bwrap:
    "--bind --ro-bind --dev-bind --tmpfs --proc --dev --dir --setenv --unsetenv --chdir --symlink --uid --gid",
  "systemd-run":
    "-p -u -E -M -H --property --unit --slice --setenv --uid --gid --working-directory --on-active --on-calendar --description",
  "systemd-nspawn": "-D -M -u --directory --machine --bind",
  chroot: "--userspec --groups",
  "taskset chrt": "-p",
  flock: "-w -E -c --timeout --conflict-exit-code",
  "ssh slogin autossh rsh": "-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w",
  sshpass: "-p -f -d",
  watch: "-n -d --interval",
  "su runuser": "-c -s -g -G -w --command --shell --group",
  script: "-c -t -I -O -B -T -m -E -o --command",
  xterm: "-T -n -fn -geometry",
  tmux: "-L -S -f -c -n -s -t -x -y -F",
  "docker podman nerdctl docker-compose":
    "-e -u -w -v -p -l -h -m -c -H -f --env --user --workdir --volume --publish --name --network --net --entrypoint --env-file --label --hostname --memory --cpus --platform --mount --gpus --add-host --cap-add --cap-drop --device --security-opt --pid --ipc --restart --host --context --config --file --project-name --profile --log-level --shm-size --ulimit --tmpfs --dns --detach-keys --pull --ip --group-add --log-driver --index",
  "kubectl oc k3s":
    "-n -c -f -o -l --namespace --container --context --kubeconfig --image --as --cluster --user --server --token --selector --filename --output --overrides --env --restart",
  "lxc incus": "--env --user --group --cwd --mode",
  "vagrant heroku": "-c --command -a --app",
  "npm pnpm npx bunx pnpx yarn":
    "-p -c -w --package --call --workspace --prefix --filter --cwd --registry --cache",
  "poetry pipenv uv pdm hatch rye conda mamba micromamba bundle nix pixi":
    "-C -n -p -e -f --directory --project --with --python --name --prefix --env --from --extra --group --package --index-url --env-file",
  "nix-shell": "-p -I --run --command --arg --argstr",
  xargs:
    "-a -d -E -I -L -n -P -s --arg-file --delimiter --eof --replace --max-lines --max-args --max-procs --max-chars",
  parallel:
    "-j -a -S -I -d -n -N --jobs --arg-file --sshlogin --colsep --delay --timeout --retries --joblog --tmpdir --workdir --wd",
  faketime: "-f",
  dotenv: "-e -f -v",
  entr: "-s",
  hyperfine:
    "-w -m -M -r -n -p -c -L --warmup --min-runs --max-runs --runs --prepare --cleanup --setup --export-json --export-markdown",
  exec: "-a",
  "cgexec firejail": "-g",
  "aws-vault chamber": "-d",
  screen: "-S -t -c -p -X",
  perf: "-o -e -p -F -C -r -I -D --event --output --pid --repeat --delay",
  cpulimit: "-l -p -e -P --limit --pid --exe",
  "watchexec nodemon": "-e -w -i -f -x --exts --watch --ignore --filter --exec --delay --ext --signal",
  concurrently: "-n -c -p -i -k --names --prefix-colors --prefix --handle-input",
  "mpirun mpiexec srun": "-n -np -N -c -p -t -host -hostfile --host --hostfile --ntasks --partition --time",
  setarch: "",
  fnm: "--using",
  "dotenvx doppler infisical op": "-f -p -c --env-file --project --config --env --path --account",
});
