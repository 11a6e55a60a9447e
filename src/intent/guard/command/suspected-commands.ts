import { isShell } from "./interpreters.js";
import { type Invocation, programName, type Word } from "./script.js";
import type { InnerCommand } from "./unwrap.js";

/**
 * The fallback for unknown programs that run other programs. Where one word, or all words from some point on, form a
 * command, the guard judges them as one. Only refusals count, and they become questions.
 */
export function suspectedCommands(invocation: Invocation): InnerCommand[] {
  const { program, argv, input } = invocation;
  if (argv.length < 2 && !READS_SCRIPTS.test(program)) return [];
  if (JUST_WORDS.has(program) || isShell(program)) return [];
  const fed =
    READS_SCRIPTS.test(program) && input && input.kind !== "file" ? inText(input.text, argv[0]!) : [];
  const texts = TEXTS.has(program)
    ? []
    : argv.slice(judgedWords(program, argv)).flatMap((word) => inText(word.text, word));
  return [...tails(invocation), ...texts, ...fed].slice(0, AT_MOST);
}

/** How many leading words other checks judge: the code after Python's -c is judged as Python. */
const judgedWords = (program: string, argv: readonly Word[]) =>
  /^(python|pypy)[\d.]*$/.test(program) && argv[1]?.text === "-c" ? 3 : 1;

const AT_MOST = 6;
const TEXT_AT_MOST = 4096;

/** Names that mean a command in any position, and hardly ever anything else. */
const NAMES =
  "rm|rmdir|shred|srm|unlink|dd|mkfs|mkfs\\.\\w+|wipefs|shutdown|reboot|poweroff|halt|sudo|su|doas|pkexec|bash|sh|zsh|dash|ksh|ash|python|python3|perl|ruby|node|php|nc|ncat|netcat|socat|curl|wget|chmod|chown|kill|killall|pkill|cat|cp|mv|scp|rsync|tar|base64|git|npm|docker|podman|kubectl|aws|gcloud|terraform|systemctl|crontab|useradd|usermod|userdel|passwd|chpasswd|iptables|insmod|modprobe|umount|find|xargs|truncate|printenv|nsenter|chroot|busybox|nohup|setsid|timeout|nice|tee|echo|printf";
const NAME_SET: ReadonlySet<string> = new Set(NAMES.split("|"));
const isName = (name: string) => NAME_SET.has(name) || name.startsWith("mkfs.");

/** Programs whose words are never commands: files, patterns, messages, package names. */
const JUST_WORDS = new Set(
  "echo printf print grep egrep fgrep zgrep rg ag ack ls cat head tail less more wc stat file du df touch mkdir cp mv ln rm rmdir chmod chown chgrp test [ expr cd pushd which whereis type hash man info whatis apropos tldr help diff cmp comm sort uniq cut tr tee basename dirname realpath readlink sleep read unset export declare typeset local readonly alias unalias return exit kill pkill killall pgrep jq yq logger say notify-send wall figlet cowsay apt apt-get aptitude apk dnf yum zypper pacman brew port pip pip3 gem rustup nvm git-cz cz commitizen hub gh glab jira linear sed awk gawk mawk nawk sha256sum md5sum tree trash dpkg dpkg-query opkg xbps-install emerge nix-env scoop winget choco shellcheck shfmt unzip zip tar getent id groups ldd strings rpm for select case true false : set shift".split(
    " ",
  ),
);

/** Whether its words are never commands. */
export const takesWords = (program: string): boolean => JUST_WORDS.has(program);

/** Programs whose words may be text about commands: messages, tests, prompts. */
const TEXTS = new Set(
  "git curl http https xh pytest jest vitest mocha rspec ctest phpunit playwright cypress npm yarn pnpm make claude codex gemini aider llm ollama opencode hermes sqlite3 psql mysql mariadb docker podman kubectl code mail mutt slack sendmail".split(
    " ",
  ),
);

/** Programs that read commands from stdin in a language without a table. */
const READS_SCRIPTS =
  /^(ed|ex|gp|jshell|runghc|runhaskell|ghci|m4|flask|lldb|gdb|bc|tclsh|wish|expect|lua\w*|octave|gnuplot|maxima|psql|mysql|mariadb|sqlite3|irb|pry|rails|scala|swift|iex|erl|sbcl|racket|guile|gosh|julia|R|dc|ftp|lftp|telnet)$/;

/** All words from some word on: `tool --flag rm -rf /`. */
function tails({ argv, program }: Invocation): InnerCommand[] {
  const inner: InnerCommand[] = [];
  for (let i = 1; i < argv.length - 1; i++) {
    const { text } = argv[i]!;
    if (!isName(text.includes("/") ? programName(text) : text) || isPackage(argv, i)) continue;
    inner.push({ kind: "argv", label: `${program} …`, argv: argv.slice(i), suspected: true });
  }
  return inner;
}

/** `tool install sudo curl` names packages. */
const isPackage = (argv: readonly Word[], at: number): boolean =>
  argv
    .slice(1, at)
    .some(({ text }) =>
      /^(install|add|remove|uninstall|search|show|info|list|help|upgrade|update)$/.test(text),
    );

const STARTS = new RegExp(`^[\\s!@;:|&({]*(?:[\\w./-]*/)?(?:${NAMES})\\s`);
const INSIDE = new RegExp(`(?<=[\\s;&|(){}\`'"!=:,[])(?:/[\\w./-]*/)?(?:${NAMES})\\s[^"'\`)\\n\\\\]*`, "g");

/** A word that is a script, or code with a command in it. */
function inText(text: string, at: Word): InnerCommand[] {
  if (text.length > TEXT_AT_MOST || !/\s/.test(text)) return [];
  const whole = STARTS.test(text) ? [text.replace(/^[\s!@;:|&]+/, "")] : [];
  const pieces = [...text.matchAll(INSIDE)].slice(0, AT_MOST).map(([piece]) => piece);
  return [...new Set([...whole, ...pieces])].map((script) => ({
    kind: "script",
    label: "…",
    text: script,
    span: at.span,
    suspected: true,
  }));
}
