import { homedir } from "node:os";
import { type MemoryEntry, MemoryFile } from "../../agents/tools/memory/memory-file.js";
import { escapeControl } from "../../nouns/text.js";
import { Audit } from "../../record/audit/audit.js";
import { openStore } from "../../record/store/open.js";
import type { Store } from "../../record/store/store.js";
import { print } from "../views/output.js";

interface Flags {
  readonly json?: boolean;
  readonly store?: string;
}

/** An entry with what the store knows of the session that wrote it. */
interface Remembered extends MemoryEntry {
  readonly agent?: string;
  readonly workspace?: string;
}

const memory = () => new MemoryFile(process.env, homedir());

export async function memoryListCommand(flags: Flags): Promise<number> {
  const entries = await known(memory().list(), flags);
  if (flags.json) print(`${JSON.stringify(entries)}\n`);
  else if (entries.length === 0) print(`nothing is remembered in ${memory().path}\n`);
  else
    for (const { id, time, tags, agent, text } of entries)
      print(
        `${id.slice(0, 8)}  ${day(time)}  ${from(tags)}${agent ? `, by ${agent}` : ""}: ${firstLine(text)}\n`,
      );
  return 0;
}

export async function memoryShowCommand(id: string, flags: Flags): Promise<number> {
  const [entry] = await known([memory().find(id)], flags);
  if (flags.json) print(`${JSON.stringify(entry)}\n`);
  else {
    const { time, session, tags, agent, workspace, text } = entry!;
    const facts = [
      ["id", entry!.id],
      ["written", new Date(time).toISOString()],
      ["tags", tags.join(", ")],
      ["session", session],
      ["agent", agent ?? "unknown: the store has no such session"],
      ["workspace", workspace ?? "unknown"],
    ];
    for (const [name, value] of facts) print(`${name!.padEnd(10)}${escapeControl(value!)}\n`);
    print(`\n${text.split("\n").map(escapeControl).join("\n")}\n`);
  }
  return 0;
}

export async function memoryRemoveCommand(id: string, flags: Flags): Promise<number> {
  const store = await openStore(flags.store);
  try {
    const entry = memory().find(id);
    const audit = Audit.open(store);
    await audit.record("config", { what: `memory: removed ${entry.id}`, file: memory().path });
    audit.close();
    await memory().remove(entry.id);
    print(`removed ${entry.id}: ${firstLine(entry.text)}\n`);
    return 0;
  } finally {
    await store.close();
  }
}

async function known(entries: readonly MemoryEntry[], flags: Flags): Promise<readonly Remembered[]> {
  if (entries.length === 0) return [];
  const store = await openStore(flags.store);
  try {
    const about = async (entry: MemoryEntry) => ({ ...entry, ...(await writerOf(store, entry)) });
    return await Promise.all(entries.map(about));
  } finally {
    await store.close();
  }
}

async function writerOf(
  store: Store,
  { session }: MemoryEntry,
): Promise<Pick<Remembered, "agent" | "workspace">> {
  const row = await store.session(session);
  return row ? { agent: row.agent, workspace: row.workspace } : {};
}

const day = (time: number) => new Date(time).toISOString().slice(0, 10);
const from = (tags: readonly string[]) => tags.map((tag) => tag.replace(/^source:/, "from ")).join(", ");
const firstLine = (text: string) => {
  const line = escapeControl(text.split("\n", 1)[0]!);
  return line.length > 100 ? `${line.slice(0, 100)}…` : line;
};
