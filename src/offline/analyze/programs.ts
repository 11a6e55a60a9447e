import type { ExecRecord } from "../../record/trace/records.js";

interface ProgramFacts {
  readonly exe: string;
  count: number;
  readonly commands: string[];
  readonly by: Set<string>;
}

const COMMANDS = 5;
const MAX_PROGRAMS = 20_000;
const MAX_COMMAND = 400;
const MAX_USERS = 8;

/** Programs that were run, how, and from which. */
export class Programs {
  readonly #byExe = new Map<string, ProgramFacts>();

  execed({ exe, argv }: ExecRecord, from: string): void {
    let facts = this.#byExe.get(exe);
    if (!facts) {
      if (this.#byExe.size >= MAX_PROGRAMS) return;
      facts = { exe, count: 0, commands: [], by: new Set() };
      this.#byExe.set(exe, facts);
    }
    facts.count++;
    if (from !== "" && facts.by.size < MAX_USERS) facts.by.add(from);
    if (facts.commands.length >= COMMANDS) return;
    const command = argv.join(" ").slice(0, MAX_COMMAND);
    if (!facts.commands.includes(command)) facts.commands.push(command);
  }

  list(): ProgramFacts[] {
    return [...this.#byExe.values()].sort((a, b) => b.count - a.count || (a.exe < b.exe ? -1 : 1));
  }
}
