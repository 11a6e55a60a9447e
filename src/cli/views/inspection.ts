import type { Capability, CapabilityEvidence } from "../../binary/inspect/capabilities.js";
import type { Hardening } from "../../binary/inspect/hardening.js";
import type { Inspection, Linked } from "../../binary/inspect/report.js";
import type { SyscallSite } from "../../binary/inspect/syscalls.js";
import { escapeControl } from "../../nouns/text.js";
import type { paint } from "./output.js";

type Paint = ReturnType<typeof paint>;

const FEW = 12;

/** For people: important facts first, lists shortened unless --all is given. */
export function renderInspection(report: Inspection, all: boolean, colour: Paint): string {
  const most = all ? Infinity : FEW;
  const head = (text: string) => colour("bold", text);
  return `${[
    ...identity(report, head),
    "",
    head("hardening"),
    ...hardening(report.hardening, colour),
    ...section(
      head("could do"),
      report.capabilities.map((each) => capability(each, most, colour)),
      Infinity,
    ),
    ...section(
      head("libraries"),
      report.libraries
        .filter(({ direct }) => direct)
        .map(
          ({ name, path }) =>
            `${escapeControl(name)}${path === undefined ? colour("yellow", "  not found") : ""}`,
        ),
      most,
    ),
    ...section(head(`imports (${report.imports.length})`), wrapped(report.imports), all ? Infinity : 4),
    ...section(head(`exports (${report.exports.length})`), wrapped(report.exports), all ? Infinity : 2),
    ...syscalls(report, most, head, colour),
    ...section(
      head(`interesting strings (${report.strings.length})`),
      report.strings.map(
        ({ kind, text, what, offset }) =>
          `${hex(offset).padEnd(12)}${kind.padEnd(9)}${escapeControl(what === undefined ? text : `${text} (${what})`)}`,
      ),
      most,
    ),
    ...section(
      head("packing"),
      [
        ...report.packing.hints.map((hint) => colour("yellow", escapeControl(hint))),
        ...report.packing.parts.map(
          ({ part, size, entropy }) =>
            `${part.padEnd(20)}${String(size).padStart(12)} bytes  ${entropy.toFixed(2)} bits a byte`,
        ),
      ],
      Infinity,
    ),
    ...section(
      head("problems"),
      report.problems.map((problem) => colour("yellow", escapeControl(problem))),
      most,
    ),
  ].join("\n")}\n`;
}

function section(title: string, lines: readonly string[], most: number): string[] {
  if (lines.length === 0) return [];
  const more = lines.length > most ? [`  … ${lines.length - most} more (--all)`] : [];
  return ["", title, ...lines.slice(0, most).map((line) => `  ${line}`), ...more];
}

const TYPES: Readonly<Record<string, string>> = {
  executable: "a program at a fixed address",
  pie: "a program (PIE)",
  shared: "a library",
  relocatable: "an object file",
  core: "a memory image (core)",
  other: "of no known type",
};

function identity(report: Inspection, head: (text: string) => string): string[] {
  const { machine, bits, endian, languages, functions } = report;
  const linked = report.static ? ", static" : "";
  const stripped = { full: "", dynamic: ", stripped", none: ", stripped of all names" }[report.symbols];
  const rows: [string, string | undefined][] = [
    [
      "is",
      `${TYPES[report.type]}, ${machine}, ${bits} bit${endian === "big" ? ", big endian" : ""}${linked}${stripped}`,
    ],
    ["size", `${report.size.toLocaleString("en")} bytes`],
    ["name", report.soname],
    ["starts at", report.entry === 0 ? undefined : hex(report.entry)],
    ["loader", report.interpreter],
    ["build id", report.buildId],
    ["names from", report.debugFile],
    [
      "written in",
      languages.map(({ name, version }) => (version ? `${name} ${version}` : name)).join(", ") || undefined,
    ],
    ["compiler", report.compilers.slice(0, 3).join("; ") || undefined],
    [
      "functions",
      functions &&
        `${functions.count.toLocaleString("en")}, ${functions.named.toLocaleString("en")} with a name, ${functions.recovered.toLocaleString("en")} known only from code; ${functions.calls.toLocaleString("en")} direct calls`,
    ],
  ];
  return [
    head(escapeControl(report.file)),
    ...rows
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => `  ${key.padEnd(12)}${escapeControl(value!)}`),
  ];
}

function hardening(hardening: Hardening, colour: Paint): string[] {
  const good = (is: boolean, text: string) => colour(is ? "green" : "yellow", text);
  const { fortified, unfortified, relro, rpath, runpath } = hardening;
  const rows: [string, string][] = [
    ["PIE", good(hardening.pie, yes(hardening.pie))],
    ["RELRO", good(relro === "full", relro)],
    ["canary", good(hardening.canary, yes(hardening.canary))],
    [
      "FORTIFY",
      good(
        fortified.length > 0,
        fortified.length > 0
          ? `${fortified.length} checked functions, ${unfortified.length} unchecked`
          : "no",
      ),
    ],
    ["NX stack", good(hardening.nx, yes(hardening.nx))],
    ["CET", `IBT ${yes(hardening.ibt)}, shadow stack ${yes(hardening.shadowStack)}`],
  ];
  if (rpath !== undefined) rows.push(["RPATH", colour("yellow", escapeControl(rpath))]);
  if (runpath !== undefined) rows.push(["RUNPATH", colour("yellow", escapeControl(runpath))]);
  if (hardening.textRelocations)
    rows.push(["TEXTREL", colour("red", "relocations modify code at load time")]);
  if (hardening.writableCode) rows.push(["W^X", colour("red", "memory that is writable and executable")]);
  return rows.map(([name, value]) => `  ${name.padEnd(12)}${value}`);
}

function capability({ id, what, notable, by, evidence }: Capability, most: number, colour: Paint): string {
  const shown = evidence.slice(0, most === Infinity ? Infinity : 5).map(evidenceText);
  const more = evidence.length > shown.length ? " …" : "";
  const style = notable ? "yellow" : by === "program" ? "cyan" : "dim";
  return `${colour(style, id.padEnd(20))} ${what}${by === "libraries" ? ", through libraries" : ""}: ${shown.join(", ")}${more}`;
}

function evidenceText(evidence: CapabilityEvidence): string {
  if (evidence.kind === "import")
    return escapeControl(evidence.library ? `${evidence.library}: ${evidence.name}` : evidence.name);
  if (evidence.kind === "text") return `"${escapeControl(evidence.text)}" at ${hex(evidence.offset)}`;
  return `system call ${evidence.name} at ${hex(evidence.addresses[0]!)}`;
}

function syscalls(report: Inspection, most: number, head: (text: string) => string, colour: Paint): string[] {
  const found = report.syscalls;
  if (found === undefined || found.sites.length === 0) return [];
  const names = new Map<string, number>();
  for (const { name, number } of found.sites)
    if (number !== undefined)
      names.set(name ?? `number ${number}`, (names.get(name ?? `number ${number}`) ?? 0) + 1);
  const proven = [...names]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, count]) => (count > 1 ? `${name} ×${count}` : name));
  const unproven = found.sites.filter(({ number }) => number === undefined);
  return [
    ...section(
      head(`system calls (${found.sites.length} sites, ${found.sites.length - unproven.length} proven)`),
      lines(proven),
      most,
    ),
    ...unproven.slice(0, most).map((site) => `  ${colour("yellow", "unknown".padEnd(9))}${siteText(site)}`),
  ];
}

function siteText({ address, function: name, by, unproven }: SyscallSite): string {
  const why = unproven === "argument" ? ", number passed by its callers" : "";
  return `${hex(address)} ${by} in ${escapeControl(name ?? "?")}${why}`;
}

export function renderFunctions(report: Inspection): string {
  const list = report.functions?.list ?? [];
  return list
    .map(
      ({ address, size, name, from }) =>
        `${hex(address).padEnd(14)}${String(size).padStart(8)}  ${escapeControl(name ?? "-")}  (${from.join(", ")})\n`,
    )
    .join("");
}

const yes = (is: boolean) => (is ? "yes" : "no");
const hex = (value: number) => `0x${value.toString(16)}`;
const wrapped = (linked: readonly Linked[]) => lines(linked.map(({ name }) => escapeControl(name)));

/** Words in columns, as many as fit in a line. */
function lines(words: readonly string[]): string[] {
  const all: string[] = [];
  let line = "";
  for (const word of words) {
    if (line !== "" && line.length + word.length > 100) {
      all.push(line);
      line = "";
    }
    line += line === "" ? word : `  ${word}`;
  }
  return line === "" ? all : [...all, line];
}
