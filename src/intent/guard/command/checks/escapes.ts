import { interpreterOf } from "../interpreters.js";
import { takesWords } from "../suspected-commands.js";
import { wrapsOthers } from "../unwrap.js";
import { type CommandCheck, ruleHit } from "./check.js";

/** A shell as a program's last argument: the program would hand it to a user or a peer. */
const SHELL = "(?:/(?:usr/)?(?:local/)?|(?:\\.\\./)+)bin/(?:ba|z|da|k|a|c|tc|fi)?sh";
const LAST = new RegExp(`^(?:[\\w-]*[=:])?(?:!|exec )?${SHELL}(?:,.*)?$`);
/** Code that starts a shell, in languages without a table. */
const CALLED =
  /(?:system|exec\w*|popen|spawn\w*|callCommand|shell|term|write18)\s*[({]?\s*["'{](?:\/(?:usr\/)?bin\/)?(?:ba|z|da)?sh["'\s}]/;
/** Options that name a program to start later. */
const HOOK =
  /^--?(?:on-[\w-]+|exec|hook|script|command|up|down|custom-dir|askpass|use-askpass|plugin-dir)=?$/;
const INSIDE = new RegExp(
  `(?:^|[\\s"'\`(=:,!{[]|-H)${SHELL}(?:["'\`)\\]},;#&|]|\\s+["'#&|<>]|\\s+\\d?[<>]|\\s+-[ilps]+(?:\\s|$)|\\s*$)`,
);
/** A shell in the place of whatever runs the text: `reset; exec sh 1>&0`. */
const REPLACED = /(?:^|[;&|"'(\s])exec (?:[\w/]*\/)?(?:ba|z|da)?sh(?:$|["'\s;)])/;
/** The halves of a remote shell in any language: a connection, and a process that is started. */
const CONNECTS =
  /\bnet\.Dial(?:TCP)?\(|\bTcpStream::connect\(|\bTCPSocket\b|Socket\.tcp\(|\bnew (?:java\.net\.)?Socket\(|Socket\.connect\(|\bfsockopen\(|socket\.connect\(|\bgen_tcp\b|net\.connect\(|\binet_aton\(|\bTcpClient\(|net\.dial_tcp\(/;
const STARTS =
  /exec\.Command\(|Command::new\(|Process\.(?:new|start|run)\(|\bProcessBuilder\(|getRuntime\(\)\.exec|\bexec[lv]p?e?\(|\bos:?:cmd|os\.execute|\bshell_exec\(|\bproc_open\(|child_process|\bdup2\(|os\.execvp|process\.run\(/;

/** Programs that take a shell's path for good reasons: containers, accounts, other machines, settings. */
const GIVEN =
  /^(docker|docker-compose|podman|nerdctl|kubectl|oc|lxc|incus|ssh|mosh|heroku|fly|flyctl|vagrant|toolbox|distrobox|chsh|useradd|usermod|adduser|make|gmake|tmux|screen|exec|command|hash|nix|nix-shell|devcontainer|flatpak|buildah|multipass|limactl|wsl|npm|pnpm|yarn|git|curl|python|python3|node|code)$/;

/** `tool /bin/sh`, `tool --up '/bin/sh'`, `tool -e 'exec "/bin/sh"'`. */
export const checkEscapes: CommandCheck = ({ argv, suspected, input }, { program }) => {
  if (suspected) return [];
  const fed = input?.kind === "here" && isRemoteShell(input.text) ? argv.slice(0, 1) : [];
  const remote = [...fed, ...argv.slice(1).filter(({ text }) => isRemoteShell(text))];
  if (remote.length > 0 && !SEARCHES.test(program)) return [ruleHit("reverse-shell", remote[0]!.span)];
  if (takesWords(program) && !EVALUATES.test(program)) return [];
  const opens = !wrapsOthers(program) && !GIVEN.test(program);
  return argv.slice(1).flatMap((word, i) => {
    const { text } = word;
    if (text.length > 2048 || !/sh|\/tmp\//.test(text)) return [];
    const [, option = argv[i]!.text, value = text] = /^(--[\w-]+=)(.*)$/s.exec(text) ?? [];
    if (HOOK.test(option) && /^\/(tmp|var\/tmp|dev\/shm)\//.test(value))
      return [ruleHit("run-from-temp", word.span)];
    if (!/sh\b/.test(text)) return [];
    const rest = argv.slice(i + 2);
    const last =
      LAST.test(text) &&
      !GIVEN.test(program) &&
      (text.includes(",") || (opens ? !runsCode(rest) : rest.every((one) => /^-[ipl]+$/.test(one.text))));
    const inside = /["'(\s!#]/.test(text) && INSIDE.test(text) && !/\s-\w*c\s/.test(text);
    const interpreter = interpreterOf(program)?.language;
    const called = CALLED.test(text) && (!interpreter || interpreter === "vim");
    const replaced = (opens || interpreter === "vim") && REPLACED.test(text);
    return last || inside || called || replaced ? [ruleHit("shell-escape", word.span)] : [];
  });
};

/** `sh -c CODE`: the code is judged by itself. */
const runsCode = (rest: readonly { readonly text: string }[]) => /^-\w*c$/.test(rest[0]?.text ?? "");

const isRemoteShell = (text: string): boolean => text.length > 40 && CONNECTS.test(text) && STARTS.test(text);

/** Programs that only look for the text. */
const SEARCHES = /^(?:[efz]?grep|rg|ag|ack|git)$/;
/** Package tools with options that evaluate code. */
const EVALUATES = /^rpm/;
