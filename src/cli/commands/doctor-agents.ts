import { homedir } from "node:os";
import { AGENTS } from "../../agents/hooks/agents.js";
import { type HookState, hookState } from "../../agents/hooks/install/state.js";
import { escapeControl } from "../../nouns/text.js";
import { paint, print } from "../views/output.js";

/** Checks the hooks of agents. Exits 1 when an installed hook does not work. */
export async function doctorAgentsCommand({ json }: { readonly json?: boolean }): Promise<number> {
  const places = { project: process.cwd(), home: homedir(), env: process.env };
  const states: HookState[] = [];
  for (const agent of AGENTS)
    for (const scope of ["project", "user"] as const) states.push(await hookState(agent, scope, places));
  print(json ? `${JSON.stringify({ agents: states }, null, 2)}\n` : states.map(line).join(""));
  return states.some(({ problem }) => problem !== undefined) ? 1 : 0;
}

function line({ agent, scope, file, installed, problem }: HookState): string {
  const p = paint(1);
  const name = `${agent.padEnd(12)} ${scope.padEnd(8)}`;
  if (!installed) return `  ${p("dim", "–")} ${name} not installed in ${escapeControl(file)}\n`;
  if (problem !== undefined)
    return `  ${p("red", "✗")} ${name} ${escapeControl(file)}: ${escapeControl(problem)}\n`;
  return `  ${p("green", "✓")} ${name} ${escapeControl(file)}: the hook works\n`;
}
