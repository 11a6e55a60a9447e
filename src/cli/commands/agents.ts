import { homedir } from "node:os";
import { type FoundAgent, knownAgents } from "../../agents/hooks/known-agents.js";
import { escapeControl } from "../../nouns/text.js";
import { paint, print } from "../views/output.js";

/** The agents that HERMES knows: which are here, and the two ways to put each under HERMES. */
export function agentsCommand({ json }: { readonly json?: boolean }): number {
  const places = { project: process.cwd(), home: homedir(), env: process.env };
  const agents = knownAgents(places);
  if (json) {
    const all = agents.map((agent) => {
      const { words: _, ...told } = agent;
      return { ...told, whole: wholeOf(agent) };
    });
    print(`${JSON.stringify({ agents: all }, null, 2)}\n`);
  } else print(agents.map(lines).join(""));
  return 0;
}

function lines(agent: FoundAgent): string {
  const p = paint(1);
  const { title, file, hook, name } = agent;
  const where = file === undefined ? p("dim", "not found on the PATH") : escapeControl(file);
  return [
    `${file === undefined ? p("dim", "–") : p("green", "✓")} ${p("bold", title)}  ${where}\n`,
    ...(file === undefined
      ? []
      : [`    whole   ${wholeOf(agent)}\n`, `    hook    ${hookLine(name, hook)}\n`]),
  ].join("");
}

function hookLine(name: string, hook: FoundAgent["hook"]): string {
  if (!hook) return "none: run it whole";
  if (hook.length === 0) return `not installed: hermes install ${name}`;
  return `installed (${hook.join(", ")}); hermes doctor --agents says whether it works`;
}

function wholeOf({ policy, program, words }: Pick<FoundAgent, "policy" | "program" | "words">): string {
  return `hermes run -p ${policy} --fence strict -- ${program}${words === undefined ? "" : ` ${words}`}`;
}
