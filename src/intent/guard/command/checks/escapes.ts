import { interpreterOf } from "../interpreters.js";
import { takesWords } from "../suspected-commands.js";
import { type CommandCheck, ruleHit } from "./check.js";

/** A shell as a program's last argument: the program would hand it to a user or a peer. */
const SHELL = "/(?:usr/)?bin/(?:ba|z|da|k|a|c|tc|fi)?sh";
const LAST = new RegExp(`^(?:[\\w-]*[=:])?(?:!|exec )?${SHELL}(?:,.*)?$`);
/** Code that starts a shell, in languages without a table. */
const CALLED =
  /(?:system|exec\w*|popen|spawn\w*|callCommand|shell|term|write18)\s*[({]?\s*["'{](?:\/(?:usr\/)?bin\/)?(?:ba|z|da)?sh["'\s}]/;
/** Options that name a program to start later. */
const HOOK =
  /^--?(?:on-[\w-]+|exec|hook|script|command|up|down|custom-dir|askpass|use-askpass|plugin-dir)=?$/;
const INSIDE = new RegExp(`(?:^|[\\s"'\`(=:,!{[]|-H)${SHELL}(?:["'\`)\\]},;#]|\\s+["'#]|\\s*$)`);

/** Programs that take a shell's path for good reasons: containers, accounts, other machines, settings. */
const GIVEN =
  /^(docker|docker-compose|podman|nerdctl|kubectl|oc|lxc|incus|ssh|mosh|heroku|fly|flyctl|vagrant|toolbox|distrobox|chsh|useradd|usermod|adduser|make|gmake|tmux|screen|exec|command|hash|nix|nix-shell|devcontainer|flatpak|buildah|multipass|limactl|wsl|npm|pnpm|yarn|git|curl|python|python3|node|code)$/;

/** `tool /bin/sh`, `tool --up '/bin/sh'`, `tool -e 'exec "/bin/sh"'`. */
export const checkEscapes: CommandCheck = ({ argv, suspected }, { program }) => {
  if (suspected || takesWords(program)) return [];
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
      (text.includes(",") || rest.every((one) => /^-[ipl]+$/.test(one.text)));
    const inside = /["'(\s!#]/.test(text) && INSIDE.test(text) && !/\s-\w*c\s/.test(text);
    const called = CALLED.test(text) && !interpreterOf(program);
    return last || inside || called ? [ruleHit("shell-escape", word.span)] : [];
  });
};
