import type { Span } from "../../finding.js";
import { type RuleHit, ruleHit } from "../checks/check.js";
import { isArtefact } from "../checks/files.js";
import { type CommandFolders, isSensitive, pathPlace } from "../path-places.js";
import { CommandPatternTable } from "../pattern.js";
import { programName, word } from "../script.js";
import { lex, type WindowsCommand, type WindowsDialect } from "./lex.js";
import { WINDOWS } from "./programs.js";

const NO_VALUES: ReadonlySet<string> = new Set();
const TABLE = new CommandPatternTable(WINDOWS, () => NO_VALUES);

/** What cmd.exe or PowerShell would do with a text. */
export function judgeWindows(
  text: string,
  dialect: WindowsDialect,
  span: Span,
  surroundings: CommandFolders,
): RuleHit[] {
  const plain = text.replace(/[`^]|['"]\s*\+\s*['"]/g, "").toLowerCase();
  const downloads = /\b(iex|invoke-expression|\[scriptblock\]::create)\b/.test(plain) && DOWNLOAD.test(plain);
  return [
    ...(downloads ? [ruleHit("pipe-to-shell", span)] : []),
    ...(/frombase64string/.test(plain) ? [ruleHit("encoded-shell", span)] : []),
    ...(/\.(downloadfile|downloaddata)\(/.test(plain) ? [ruleHit("download-and-run", span)] : []),
    ...(/net\.sockets\.tcpclient|sockets\.tcpclient/.test(plain) ? [ruleHit("reverse-shell", span)] : []),
    ...(/\[(system\.)?environment\]::getenvironmentvariables|\$env:\w*(key|token|secret|passw)/.test(plain)
      ? [ruleHit("secret-variable", span)]
      : []),
    ...(/\[reflection\.assembly\]::load|virtualalloc|amsiutils|amsiinitfailed|add-type.*dllimport/s.test(
      plain,
    )
      ? [ruleHit("hostile-code", span)]
      : []),
    ...lex(text, dialect).flatMap((command) => judgeCommand(command, dialect, span, surroundings)),
  ];
}

const DOWNLOAD =
  /downloadstring|downloadfile|downloaddata|invoke-webrequest|\biwr\b|\birm\b|invoke-restmethod|webclient|\bcurl\b|\bwget\b|webrequest|frombase64string|https?:/;

function judgeCommand(
  command: WindowsCommand,
  dialect: WindowsDialect,
  span: Span,
  surroundings: CommandFolders,
): RuleHit[] {
  const words = command
    .filter((text) => !/^[.&@=]$|^\$\w+$/.test(text))
    .map((text) => text.replace(/^@/, ""));
  const program = programName(words[0] ?? "");
  const args = words.slice(1).map((text) => word(longName(text), span));
  const matched = TABLE.match(program, args).map(({ value }) => ruleHit(value, span));
  return [
    ...matched,
    ...removed(
      program,
      args.map(({ text }) => text),
      dialect,
      span,
    ),
    ...read(program, words.slice(1), span, surroundings),
  ];
}

/** PowerShell accepts any unique prefix of an option's name. */
const OPTIONS = [
  "-recurse",
  "-force",
  "-encodedcommand",
  "-verb",
  "-body",
  "-infile",
  "-computername",
  "-executionpolicy",
  "-windowstyle",
];

function longName(text: string): string {
  if (text === "-ec" || text === "-ep" || text === "-e")
    return text === "-ep" ? "-executionpolicy" : "-encodedcommand";
  return (text.length > 1 && OPTIONS.find((option) => option.startsWith(text))) || text;
}

const REMOVERS = /^(rmdir|rd|del|erase|remove-item|ri|rm)$/;

function removed(program: string, words: readonly string[], dialect: WindowsDialect, span: Span): RuleHit[] {
  if (!REMOVERS.test(program)) return [];
  const recursive = words.some(
    (text) => /^\/s$|^-recurse$/.test(text) || (dialect === "cmd" && /^\/(s\/q|q\/s)$/.test(text)),
  );
  if (!recursive)
    return words.some((text) => /^[a-z]:\\(windows|program|users\\?$)|^%systemroot%/.test(text))
      ? [ruleHit("delete-everything", span)]
      : [];
  const paths = words.filter((text) => !/^[-/]\w+$/.test(text) && !/^\/(s\/q|q\/s)$/.test(text));
  const rule =
    paths.length > 0 &&
    paths.every(
      (path) =>
        isArtefact(path.replaceAll("\\", "/").replace(/\/$/, "").replace(/^.*\//, "")) &&
        !/^[a-z]:|^[%$~\\/]|\*/.test(path),
    )
      ? "artefact-delete"
      : paths.length > 0 &&
          paths.every((path) => /^[\w.][\w.\\/-]*$/.test(path) && !/^[a-z]:|^\.\.?[\\/]?$/.test(path))
        ? "recursive-delete"
        : "delete-everything";
  return [ruleHit(rule, span)];
}

const READERS =
  /^(type|get-content|gc|cat|more|select-string|sls|findstr|copy|xcopy|copy-item|cp|import-clixml|get-item|notepad)$/;

function read(
  program: string,
  words: readonly string[],
  span: Span,
  surroundings: CommandFolders,
): RuleHit[] {
  if (!READERS.test(program)) return [];
  return words.flatMap((text) => {
    const path = text
      .replace(/^\$(home|env:userprofile)|^%userprofile%|^~/, surroundings.home)
      .replaceAll("\\", "/");
    const place = pathPlace(path, false, surroundings.workspace, surroundings);
    return isSensitive("credential", place, false, surroundings) || /\/(config\/sam|ntds\.dit)$/.test(path)
      ? [ruleHit("secret-read", span, text)]
      : [];
  });
}
