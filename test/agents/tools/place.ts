import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { Toolbox, type ToolboxOptions, type ToolResult } from "hermes-runtime/tools";
import { afterEach } from "vitest";
import type { Answer } from "../../../src/people/approval/answer.js";
import type { ApprovalItem } from "../../../src/people/approval/approval-item.js";
import type { Approver } from "../../../src/people/approval/approver.js";

/** Where an agent works in a test: not in a temporary folder, which every run may change. */
export interface Place {
  readonly workspace: string;
  readonly home: string;
  readonly store: string;
  write(name: string, content: string, mode?: number): string;
}

const made: string[] = [];
const open: Toolbox[] = [];
afterEach(async () => {
  for (const toolbox of open.splice(0)) await toolbox.close();
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

export function makePlace(): Place {
  const folder = mkdtempSync(join(homedir(), ".hermes-test-"));
  made.push(folder);
  const workspace = join(folder, "workspace");
  const home = join(folder, "home");
  for (const path of [workspace, home]) mkdirSync(path);
  return {
    workspace,
    home,
    store: join(folder, "state", "hermes.db"),
    write(name, content, mode = 0o644) {
      const path = join(folder, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content, { mode });
      return path;
    },
  };
}

/** A toolbox that is closed after the test. */
export async function toolboxIn(
  { workspace, home, store }: Place,
  options: ToolboxOptions = {},
): Promise<Toolbox> {
  const env = { PATH: process.env.PATH, HOME: home, HERMES_HOME: home, ...options.env };
  const toolbox = await Toolbox.open({ workspace, home, store, ...options, env });
  open.push(toolbox);
  return toolbox;
}

/** An approver that gives the same answer to everything, and remembers what was asked. */
export function answering(answer: Answer): Approver & { readonly asked: ApprovalItem[] } {
  const asked: ApprovalItem[] = [];
  return {
    name: "test",
    asked,
    ask(item, give) {
      asked.push(item);
      void give({ answer, by: "test" });
    },
    withdraw: () => {},
  };
}

/** What terminal_exec returned. */
// biome-ignore lint/suspicious/noExplicitAny: tests look at any field
export type Output = any;

export async function execIn(
  toolbox: Toolbox,
  command: string,
  more: object = {},
): Promise<ToolResult & { output: Output }> {
  return (await toolbox.call("terminal_exec", { command, ...more })) as ToolResult & { output: Output };
}
