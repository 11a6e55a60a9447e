import { collectFacts } from "../../offline/analyze/analyze.js";
import { spellInvisible } from "../../offline/analyze/format.js";
import { BEHAVIOUR_KINDS, type BehaviourKind, behaviourOf } from "../../offline/diff/behaviour.js";
import { type Changes, compare, type Difference, isEmpty } from "../../offline/diff/diff.js";
import { paint, print } from "../views/output.js";

interface Flags {
  json?: boolean;
  all?: boolean;
}

const SHOWN = 15;
const TITLES: Readonly<Record<BehaviourKind, string>> = {
  peers: "Peers",
  listening: "Listens at",
  secrets: "Secrets",
  programs: "Programs",
  findings: "Worth a look",
  files: "Files",
  syscalls: "System calls",
  functions: "Functions",
};

/** Compares the behaviour of two runs. Exits 0 without differences, 1 with differences. */
export async function diffCommand(first: string, second: string, flags: Flags): Promise<number> {
  const [before, after] = [await collectFacts(first), await collectFacts(second)];
  const difference = compare(behaviourOf(before.facts), behaviourOf(after.facts));
  const described = (file: string, { facts, complete }: typeof before) => ({
    file,
    command: facts.header?.command ?? [],
    events: facts.events,
    complete,
  });
  if (flags.json) {
    const a = described(first, before);
    const b = described(second, after);
    print(`${JSON.stringify({ hermes: "difference", version: 1, a, b, ...difference })}\n`);
  } else print(render(difference, flags.all === true));
  return isEmpty(difference) ? 0 : 1;
}

function render(difference: Difference, all: boolean): string {
  if (isEmpty(difference)) return "no difference in files, peers, programs or system calls\n";
  return BEHAVIOUR_KINDS.map((kind) => sectionOf(TITLES[kind], difference[kind], all)).join("");
}

function sectionOf(title: string, { added, gone, changed }: Changes, all: boolean): string {
  const p = paint(1);
  const ways = (names: readonly string[]) => (names.length > 0 ? ` ${names.join(", ")}` : "");
  const lines = [
    ...cut(added, all).map((d) =>
      typeof d === "string"
        ? d
        : `${p("red", "+")} ${p("bold", spellInvisible(d.name))}${ways(d.ways)}  ${p("dim", brief(d.detail))}`,
    ),
    ...cut(changed, all).map((d) =>
      typeof d === "string"
        ? d
        : `${p("yellow", "~")} ${spellInvisible(d.name)} ${d.before.join(", ")} → ${d.after.join(", ")}  ${p("dim", brief(d.detail))}`,
    ),
    ...cut(gone, all).map((d) =>
      typeof d === "string" ? d : `${p("green", "-")} ${spellInvisible(d.name)}${ways(d.ways)}`,
    ),
  ];
  if (lines.length === 0) return "";
  const counts = [
    `${added.length} new`,
    ...(changed.length > 0 ? [`${changed.length} differently`] : []),
    `${gone.length} gone`,
  ];
  return `${p("bold", title)} (${counts.join(", ")})\n${lines.map((line) => `  ${line}\n`).join("")}`;
}

function cut<T>(items: readonly T[], all: boolean): (T | string)[] {
  if (all || items.length <= SHOWN) return [...items];
  return [...items.slice(0, SHOWN), `… and ${items.length - SHOWN} more (--all)`];
}

function brief(text: string): string {
  const shown = spellInvisible(text);
  return shown.length > 110 ? `${shown.slice(0, 110)}…` : shown;
}
