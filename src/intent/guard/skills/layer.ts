import { type Finding, findings, type Span } from "../finding.js";
import { intentsOf } from "../intents/intent.js";
import type { Context, Layer } from "../layer.js";
import { lookalikeOf } from "../packages/lookalike.js";
import type { Subject } from "../subject.js";
import { combinedBehaviour } from "./combined-behaviour.js";
import { isAboutSecurity, withoutExamples, withoutPatterns } from "./examples.js";
import { readFolder, type SkillFile, type SkillFolder, skillFromText } from "./folder.js";
import { hookIn } from "./hooks.js";
import { languageOf } from "./language.js";
import { encoded, readScript, type ScriptFacts } from "./scripts.js";
import { isTrusted, type SkillsSection, skillsSection } from "./section.js";

const layer = findings("skills");

/** Judges a skill: instructions that an agent follows and scripts that it runs, written by someone else. */
export const skillsLayer: Layer = {
  name: "skills",
  kinds: ["skill"],
  check(subject, context) {
    const folder = read(subject, context);
    const files = folder.files.map((file) => judgeFile(file, folder, context));
    const found = [
      ...folder.odd.map(({ rule, reason }) => layer.deny(rule, reason)),
      ...files.flatMap(({ findings }) => findings),
      ...combinedBehaviour(files.flatMap(({ scripts }) => scripts)).map(({ rule, action, reason }) =>
        layer[action](rule, reason),
      ),
    ];
    const section = (context.config.skills as SkillsSection | undefined) ?? skillsSection.parse({});
    const source = subject.fields?.source;
    const trusted = typeof source === "string" && isTrusted(source, section);
    return once(
      trusted
        ? found.map((finding) => (finding.action === "ask" ? { ...finding, action: "allow" } : finding))
        : found,
    );
  },
};

/** A path to a skill's folder or to its SKILL.md; else the skill itself. */
function read({ input }: Subject, { files, cwd }: Context): SkillFolder {
  if (input.length > 4096 || /[\n{]/.test(input)) return skillFromText(input);
  const path = input.startsWith("/") ? input : `${cwd}/${input}`;
  const info = files.lstat(path);
  if (info?.kind === "folder") return readFolder(path, files);
  const folder = path.replace(/\/[^/]*$/, "");
  return info?.kind === "file" && /\/skill\.md$/i.test(path)
    ? readFolder(folder, files)
    : skillFromText(input);
}

interface Judged {
  readonly findings: readonly Finding[];
  /** What the file does, to judge what the files do together. */
  readonly scripts: readonly ScriptFacts[];
}

function judgeFile(file: SkillFile, folder: SkillFolder, context: Context): Judged {
  const name = file.path;
  if (/(?:^|[/\\])\.\.(?:[/\\]|$)|^[/\\]|^[a-z]:/i.test(name))
    return only(layer.deny("skill-path", `${name} would be written outside the skill.`));
  if (file.text === undefined) return { findings: judgeBinary(file), scripts: [] };
  const language = languageOf(name, file.text);
  const hook = hookIn(name, file.text);
  const { findings, scripts } =
    language === "instructions" || language === "other"
      ? judgeInstructions(name, file.text, context)
      : judgeCode(name, file.text, language, isDefensive(folder), context);
  const lookalikes = requiredLookalikes(name, file.text);
  const hooked = hook ? [layer[hook.action]("install-hook", hook.reason, hook)] : [];
  const point = (finding: Finding): Finding => (folder.files.length === 1 ? finding : unpointed(finding));
  return { findings: [...findings, ...lookalikes, ...hooked].map(point), scripts };
}

const only = (finding: Finding): Judged => ({ findings: [finding], scripts: [] });

/** Whether the skill says that it is about attacks: its pattern tables contain many. */
function isDefensive({ files }: SkillFolder): boolean {
  return files.some(({ path, text }) => /(?:^|\/)skill\.md$/i.test(path) && isAboutSecurity(text ?? ""));
}

function judgeInstructions(name: string, whole: string, context: Context): Judged {
  const text = withoutExamples(whole);
  const told = context
    .inspect({ kind: "text", input: text, fields: { source: "skill" } })
    .filter(isTelling)
    .map((finding) => ({ ...finding, reason: `${name}: ${finding.reason}` }));
  const blocks = codeBlocks(text).map(({ code, start }) => ({ script: readScript(name, code), start }));
  const rest = readScript(name, text);
  return {
    findings: [
      ...told,
      ...blocks.flatMap(({ script, start }) => script.findings.map((one) => toFinding(one, start))),
      ...rest.findings.filter(({ rule }) => rule === "skip-approval").map((one) => toFinding(one, 0)),
      ...(languageOf(name, text) === "other" ? encoded(name, text).map((one) => toFinding(one, 0)) : []),
    ],
    // Prose mentions files and hosts without using them. Data lists hosts for others to use.
    scripts: [
      ...blocks.map(({ script }) => script),
      ...(isData(name) ? [{ ...rest, takes: undefined, sends: undefined }] : []),
    ],
  };
}

function isData(name: string): boolean {
  return /\.(?:ya?ml|toml|json|ini|cfg|conf|env|properties|xml)$/i.test(name);
}

function judgeCode(
  name: string,
  whole: string,
  language: ReturnType<typeof languageOf>,
  defensive: boolean,
  context: Context,
): Judged {
  const text = defensive ? withoutPatterns(whole) : whole;
  const script = readScript(name, text);
  return {
    findings: [
      ...script.findings.map((one) => toFinding(one, 0)),
      ...commentIntents(name, text),
      ...(language === "powershell" && FETCHES_AND_RUNS.test(text)
        ? [layer.deny("remote-code", `${name}: This downloads code and runs it unread.`)]
        : []),
      ...(language === "shell" || language === "python" ? inspected(language, name, text, context) : []),
    ],
    scripts: [script],
  };
}

const FETCHES_AND_RUNS =
  /\b(?:iex|invoke-expression)\b[^\n]{0,160}\b(?:iwr|irm|invoke-webrequest|invoke-restmethod|downloadstring|net\.webclient)\b|\b(?:iwr|irm|invoke-webrequest|invoke-restmethod|downloadstring)\b[^\n]{0,160}\|\s?(?:iex|invoke-expression)\b/i;

/** Packages that were uploaded to be mistaken for popular ones. */
function requiredLookalikes(name: string, text: string): Finding[] {
  if (!/(?:^|\/)requirements[\w.-]*\.txt$/i.test(name)) return [];
  return [...text.matchAll(/^[ \t]*([A-Za-z][\w.-]{1,60})/gm)].slice(0, 500).flatMap(([, required = ""]) => {
    const twin = lookalikeOf(required, "PyPI");
    if (!twin?.known) return [];
    return [
      layer.deny("look-alike-package", `${name}: ${required} looks like ${twin.of} but is not (PyPI).`),
    ];
  });
}

/** Spans point into the subject's input; a file of a folder is not in it. */
function unpointed({ span: _, ...finding }: Finding): Finding {
  return finding;
}

function toFinding(
  { rule, action, reason, start, end }: Span & Pick<Finding, "rule" | "action" | "reason">,
  offset: number,
): Finding {
  return layer[action](rule, reason, { start: start + offset, end: end + offset });
}

/**
 * Instructions tell how to install things and how to use secrets; a skill is not refused for what every README says.
 * Of the content layer's findings, only deception and attempts to take over the agent count.
 */
const ORDINARY = new Set([
  "pipe-to-interpreter",
  "fetch-and-run",
  "look-alike-package",
  "mixed-script-word",
  "zero-width",
  "filler",
  "bidi-control",
  "nul",
  "control-character",
  "terminal-control",
  "overwritten-text",
  "remote-code",
  "steer",
  "terminal-overwrite",
  "keyed-secret",
]);

function isTelling({ rule, action }: Finding): boolean {
  return (
    action === "deny" ||
    (action === "ask" && !ORDINARY.has(rule)) ||
    rule === "pipe-to-interpreter" ||
    rule === "fetch-and-run"
  );
}

/** The command and Python layers' findings on a script: only refusals that mean harm. */
const HARM =
  /delete-everything|python-exec|python-unpickle|secret|exfil|credential|pipe-to|encoded|obfus|reverse|fork-bomb|hidden|persistence|self-modif|process-secrets|keylog|input-capture/;

/** Questions about a command that count for a script too: what it changes lasts. */
const LASTING = /^(?:startup-file|hijack|agent-instructions)$/;

function inspected(language: "shell" | "python", name: string, text: string, context: Context): Finding[] {
  const kind = language === "shell" ? "command" : "python";
  return context
    .inspect({ kind, input: text })
    .filter(({ action, rule }) => (action === "deny" && HARM.test(rule)) || LASTING.test(rule))
    .map((finding) => ({ ...finding, action: "ask" as const, reason: `${name}: ${finding.reason}` }));
}

/** Agents also read the comments and strings of scripts. */
function commentIntents(name: string, text: string): Finding[] {
  return intentsOf(text)
    .filter(({ action, rule }) => action === "deny" && INTENTS.has(rule))
    .map(({ rule, reason, start, end }) => layer.deny(rule, `${name}: ${reason}`, { start, end }));
}

const INTENTS = new Set([
  "ignore-instructions",
  "new-role",
  "new-instructions",
  "conceal",
  "reveal-prompt",
  "skip-approval",
]);

/** Fenced blocks of instructions, and commands between backticks. */
function codeBlocks(text: string): { code: string; start: number }[] {
  const fenced = [
    ...text.matchAll(/^[ \t]{0,8}(?:```|~~~)[^\n]{0,80}\n([\s\S]{1,20000}?)^[ \t]{0,8}(?:```|~~~)/gm),
  ];
  const inline = [...text.matchAll(/(?<!`)`([^`\n]{12,400})`(?!`)/g)];
  return [...fenced, ...inline].slice(0, 400).map((match) => ({
    code: match[1]!,
    start: match.index + match[0].indexOf(match[1]!),
  }));
}

const PICTURES =
  /\.(?:png|jpe?g|gif|webp|svg|ico|pdf|ttf|otf|woff2?|mp[34]|wav|csv|xlsx|docx|pptx|sqlite|parquet|xsd|zip|gz)$/i;

/** Binary files cannot be reviewed. */
function judgeBinary({ path, size }: SkillFile): Finding[] {
  if (PICTURES.test(path) && size < 32 << 20) return [];
  return [layer.ask("skill-binary", `${path} is not text, so it cannot be reviewed.`)];
}

/** One finding per rule and action is enough to decide; the operator sees the first place. */
function once(all: readonly Finding[]): Finding[] {
  return [
    ...new Map(
      all.map((finding) => [`${finding.rule}:${finding.action}`, finding] as const).reverse(),
    ).values(),
  ].reverse();
}
