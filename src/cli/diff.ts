import { factsOf } from "../analyze/analyze.js";
import { visible } from "../analyze/format.js";
import { behaviourOf, KINDS, type Kind } from "../diff/behaviour.js";
import { type Changes, compare, type Difference, isEmpty } from "../diff/diff.js";
import { paint, print } from "./output.js";

interface Flags {
  json?: boolean;
  all?: boolean;
}

const SHOWN = 15;
const TITLES: Readonly<Record<Kind, string>> = {
  peers: "Peers",
  listening: "Listens at",
  secrets: "Secrets",
  programs: "Programs",
  findings: "Worth a look",
  files: "Files",
  syscalls: "System calls",
  functions: "Functions",
};

/** How the behaviour of two runs differs. Exits 0 when it does not, 1 when it does. */
export async function diffCommand(first: string, second: string, flags: Flags): Promise<number> {
  const [before, after] = [await factsOf(first), await factsOf(second)];
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
  return KINDS.map((kind) => sectionOf(TITLES[kind], difference[kind], all)).join("");
}

function sectionOf(title: string, { added, gone, changed }: Changes, all: boolean): string {
  const p = paint(1);
  const ways = (names: readonly string[]) => (names.length > 0 ? ` ${names.join(", ")}` : "");
  const lines = [
    ...cut(added, all).map((d) =>
      typeof d === "string"
        ? d
        : `${p("red", "+")} ${p("bold", visible(d.name))}${ways(d.ways)}  ${p("dim", brief(d.detail))}`,
    ),
    ...cut(changed, all).map((d) =>
      typeof d === "string"
        ? d
        : `${p("yellow", "~")} ${visible(d.name)} ${d.before.join(", ")} → ${d.after.join(", ")}  ${p("dim", brief(d.detail))}`,
    ),
    ...cut(gone, all).map((d) =>
      typeof d === "string" ? d : `${p("green", "-")} ${visible(d.name)}${ways(d.ways)}`,
    ),
  ];
  if (lines.length === 0) return "";
  const counts = [
    `${added.length} new`,
    ...(changed.length > 0 ? [`${changed.length} in other ways`] : []),
    `${gone.length} gone`,
  ];
  return `${p("bold", title)} (${counts.join(", ")})\n${lines.map((line) => `  ${line}\n`).join("")}`;
}

function cut<T>(items: readonly T[], all: boolean): (T | string)[] {
  if (all || items.length <= SHOWN) return [...items];
  return [...items.slice(0, SHOWN), `… and ${items.length - SHOWN} more (--all)`];
}

function brief(text: string): string {
  const shown = visible(text);
  return shown.length > 110 ? `${shown.slice(0, 110)}…` : shown;
}
