import { type Action, type Finding, findings, type Span } from "../finding.js";
import type { Context, Layer } from "../layer.js";
import { allowsPath } from "../paths/allowed.js";
import { expandHome, LONGEST_PATH, lexical } from "../paths/components.js";
import { pathReadings } from "../paths/readings.js";
import { walk } from "../paths/within.js";
import type { Subject } from "../subject.js";
import { type Want, want } from "./access.js";
import { matchOwn, matchProtected, type ProtectedMatch } from "./match.js";
import { MAX_READ_CHARS, readRefusal } from "./read-limit.js";
import type { FilesSection } from "./section.js";

const make = findings("files");

/**
 * Files that an agent may not read or write, under all names that lead to them. The paths layer refuses overlong
 * paths.
 */
export const filesLayer: Layer = {
  name: "files",
  kinds: ["path"],
  check(subject, context) {
    const { input, fields } = subject;
    if (input.length > LONGEST_PATH) return [];
    const span = { start: 0, end: input.length };
    const found = worst(subject, context, want(fields?.access));
    const refusal = readRefusal(fields ?? {}, maxChars(context));
    return [
      ...(found ? [finding(found, span)] : []),
      ...(refusal
        ? [make.deny("read-limit", refusal, span, "Read it in parts, with offset and limit.")]
        : []),
    ];
  },
};

interface Found extends ProtectedMatch {
  readonly action: Action;
  /** Absolute. */
  readonly path: string;
  readonly seenAs?: string;
}

function finding({ action, rule, reason, seenAs, path }: Found, span: Span): Finding {
  const why = seenAs === undefined ? reason : `${reason} (The path leads to ${seenAs}.)`;
  return { ...make[action](rule, why, span), ...(CAN_BE_ALLOWED.has(rule) && { about: path }) };
}

/** What `allow:` can lift. The others are about devices, processes and HERMES itself, or were refused by hermes.yaml. */
export const FILE_RULES_TO_ALLOW: readonly string[] =
  "credential-file env-file likely-credentials sensitive-write persistence agent-instructions build-pipeline".split(
    " ",
  );
const CAN_BE_ALLOWED: ReadonlySet<string> = new Set(FILE_RULES_TO_ALLOW);

const ORDER: readonly Action[] = ["deny", "ask", "allow"];

/** Judges the path as written first: a link cannot make a device look harmless. Then judges where it really leads. */
function worst(subject: Subject, context: Context, wanted: Want): Found | undefined {
  const access = wanted === "read" ? "read" : "write";
  const found = [...names(subject.input, context)].flatMap(({ path, seenAs }): Found[] => {
    const by = matchProtected(path, context, wanted);
    const isAllowed = by && CAN_BE_ALLOWED.has(by.rule) && allowsPath(context, access, path, by.rule);
    const own = by && !isAllowed ? undefined : matchOwn(path, context);
    return [by && { ...by, ...(isAllowed && { action: "allow" as const }) }, own]
      .filter((match) => match !== undefined)
      .map((match) => ({ ...match, path, ...(seenAs !== undefined && { seenAs }) }));
  });
  return ORDER.map((action) => found.find((match) => match.action === action)).find(Boolean);
}

function* names(
  input: string,
  { cwd, home, files: system }: Context,
): Iterable<{ path: string; seenAs?: string }> {
  const place = (text: string) => lexical(withoutDrive(expandHome(text, home)), cwd);
  const literal = place(input);
  yield { path: literal };
  for (const { path, how } of pathReadings(input))
    yield { path: place(path), seenAs: `${path.slice(0, 80)} without ${how}` };
  const real = walk(expandHome(input, home), cwd, system);
  if (real !== undefined && real !== literal) yield { path: real, seenAs: real };
}

/** Apart from drives, shares and `\\?\`, Windows paths have the same folders. */
function withoutDrive(path: string): string {
  return path
    .replaceAll("\\", "/")
    .replace(/^\/{2}[?.]\//, "")
    .replace(/^[A-Za-z]:(?=\/|$)/, "")
    .replace(/^[A-Za-z]:/, "/");
}

function maxChars({ config }: Context): number {
  return (config.files as Partial<FilesSection> | undefined)?.read_max_chars ?? MAX_READ_CHARS;
}
