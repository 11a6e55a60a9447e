import { isText } from "../suspects.js";
import { type Check, found } from "./check.js";

/** A shell as the last thing that a program is given: it would be handed to whoever sits there. */
const SHELL = "/(?:usr/)?bin/(?:ba|z|da|k|a|c|tc|fi)?sh";
const LAST = new RegExp(`^(?:[\\w-]*[=:])?(?:!|exec )?${SHELL}$`);
const INSIDE = new RegExp(`(?:^|[\\s"'\`(=:,!{[]|-H)${SHELL}(?:["'\`)\\]},;#]|\\s+["'#]|\\s*$)`);

/** Programs that are given a shell's path for good reasons: containers, accounts, other machines, settings. */
const GIVEN =
  /^(docker|docker-compose|podman|nerdctl|kubectl|oc|lxc|incus|ssh|mosh|heroku|fly|flyctl|vagrant|toolbox|distrobox|chsh|useradd|usermod|adduser|make|gmake|tmux|screen|exec|command|hash|nix|nix-shell|devcontainer|flatpak|buildah|multipass|limactl|wsl|npm|pnpm|yarn|git|curl|python|python3|node|code)$/;

/** `tool /bin/sh`, `tool --up '/bin/sh'`, `tool -e 'exec "/bin/sh"'`. */
export const escapes: Check = ({ argv, suspected }, { program }) => {
  if (suspected || isText(program)) return [];
  return argv.slice(1).flatMap((word, i) => {
    const { text } = word;
    if (text.length > 2048 || !text.includes("bin/")) return [];
    const rest = argv.slice(i + 2);
    const last = LAST.test(text) && !GIVEN.test(program) && rest.every((one) => /^-[ipl]+$/.test(one.text));
    const inside = /["'(\s!#]/.test(text) && INSIDE.test(text) && !/\s-\w*c\s/.test(text);
    return last || inside ? [found("shell-escape", word.span)] : [];
  });
};
