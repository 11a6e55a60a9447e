import { interpreterOf } from "../../intent/guard/command/interpreters.js";
import { programName } from "../../intent/guard/command/script.js";
import { wrappersOf } from "../../intent/guard/command/wrappers.js";

/**
 * Programs that run what they are given: to approve one for always would be to approve everything. The guard knows
 * interpreters and wrappers already; these are the others.
 */
const ALSO = new Set(
  [
    "deno jshell ghci ocaml scala kotlin swift raku rscript bc dc m4 tcc java javac dotnet wasmtime",
    "make gmake bmake nmake cmake ninja just task rake ant mvn gradle gradlew meson scons bazel tox nox invoke fab",
    "eval source . exec trap busybox toybox xargs parallel watch strace ltrace gdb lldb qemu wine",
    "ed emacs emacsclient nano pico less more most man view vimdiff rvim",
    "socat nc ncat netcat telnet ftp sftp scp at batch crontab run-parts start-stop-daemon dpkg rpm",
    "ansible ansible-playbook salt puppet chef-client terraform vagrant packer helm kubectl",
    "npm pnpm yarn npx bunx corepack pip pipx uvx cargo go gem composer bundle",
    "docker podman nerdctl buildah crun runc lxc ssh hermes claude codex gemini",
  ].flatMap((line) => line.split(" ")),
);

/** Ordinary programs that become one with an option, or a part of it. */
const OPTIONS: readonly (readonly [programs: RegExp, option: RegExp])[] = [
  [/^(find|gfind|fd|fdfind|bfs)$/, /^(-exec|-execdir|-ok|-okdir|-x|-X|--exec|--exec-batch)$/],
  [
    /^(tar|bsdtar|gtar)$/,
    /^(--checkpoint-action|--to-command|--use-compress-program|--rsh-command|--info-script|--new-volume-script|-I|-F)/,
  ],
  [/^git$/, /^(-c|--exec-path|--config-env|--upload-pack|--receive-pack|--exec|-x|bisect|filter-branch)/],
  [/^(rsync|zip|sort|rg|cpio)$/, /^(-e|--rsh|--rsync-path|-TT|--unzip-command|--compress-program|--pre)/],
  [/^(openssl|curl|wget)$/, /^(-engine|--engine|--config|-K|--use-askpass)/],
];

/** Why a command of these words is never approved for always; undefined when it can be. */
export function whyRunsAnything([first = "", ...words]: readonly string[]): string | undefined {
  const program = programName(first);
  const bare = program.replace(/[-.\d]+$/, "");
  const freely =
    [program, bare].some((name) => ALSO.has(name) || interpreterOf(name) || wrappersOf(name).length > 0) ||
    OPTIONS.some(([programs, option]) => programs.test(program) && words.some((word) => option.test(word)));
  return freely ? `${program} runs whatever it is told to, so it is never approved for always` : undefined;
}
