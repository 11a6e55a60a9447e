import type { Finding } from "../../../intent/guard/finding.js";
import type { Guard } from "../../../intent/guard/guard.js";
import { type ToolPins, toolDigest } from "../../../intent/guard/mcp/pins.js";
import type { Approvals } from "../../../people/approval/approvals.js";
import type { Json } from "./peer.js";

export interface Definition extends Json {
  readonly name: string;
}

/** The fields that a model sees: other fields of a server are neither judged nor passed on. */
const TOLD = [
  "name",
  "title",
  "description",
  "inputSchema",
  "outputSchema",
  "annotations",
  "arguments",
] as const;

/** Definitions as they are judged, pinned and passed on. */
export function definitionsOf(list: readonly Json[]): Definition[] {
  return list.flatMap((one) =>
    typeof one.name === "string"
      ? [Object.fromEntries(TOLD.filter((key) => key in one).map((key) => [key, one[key]])) as Definition]
      : [],
  );
}

interface DefinitionOptions {
  readonly server: string;
  readonly guard: Guard;
  readonly pins: ToolPins;
  readonly approvals: Approvals;
  readonly session: string;
  /** An approver has accepted a withheld definition. */
  readonly changed: () => void;
  readonly report: (text: string) => void;
}

/**
 * Decides which tools of a server a model sees. A harmless definition is pinned at first sight. A changed or doubtful
 * definition is withheld until a person approves exactly that text. A harmful one stays withheld.
 */
export class Definitions {
  readonly #options: DefinitionOptions;
  /** Names of withheld tools, with the reason. */
  readonly withheld = new Map<string, string>();
  readonly #asked = new Set<string>();

  constructor(options: DefinitionOptions) {
    this.#options = options;
  }

  admit(tools: readonly Definition[]): Definition[] {
    const { server, pins } = this.#options;
    this.withheld.clear();
    const known = tools.map((definition) => ({ name: definition.name, definition }));
    const { added, changed } = pins.compare(server, known);
    const kept = tools.filter((tool) => {
      const findings = this.#findings(tool, changed.includes(tool.name));
      const harmful = findings.find(({ action }) => action === "deny");
      const doubts = findings.filter(({ action }) => action === "ask");
      const pinned = !added.includes(tool.name) && !changed.includes(tool.name);
      if (!harmful && (pinned || doubts.length === 0)) return true;
      this.#withhold(tool, harmful ? [harmful] : doubts, harmful === undefined);
      return false;
    });
    const fresh = kept.filter(({ name }) => added.includes(name));
    if (fresh.length > 0) this.#agree(fresh);
    return kept;
  }

  #findings(tool: Definition, changed: boolean): readonly Finding[] {
    const { guard, server } = this.#options;
    const { findings } = guard.check({
      kind: "mcp",
      input: JSON.stringify({ tools: [{ description: "", ...tool }] }),
    });
    const reason = `The description of ${tool.name} of ${server} changed after it was approved.`;
    return changed ? [{ layer: "mcp", rule: "tool-changed", action: "ask", reason }, ...findings] : findings;
  }

  #withhold(tool: Definition, why: readonly Finding[], askable: boolean): void {
    const { server, approvals, session, report } = this.#options;
    const reason = why.map((finding) => finding.reason).join(" ");
    this.withheld.set(tool.name, reason);
    const digest = toolDigest([server, tool]);
    if (this.#asked.has(digest)) return;
    this.#asked.add(digest);
    report(`${server}: HERMES withholds the tool ${tool.name}: ${reason}`);
    if (!askable) return;
    const detail = { server, definition: JSON.stringify(tool, undefined, 2) };
    const what = `offer the tool ${tool.name} of the MCP server ${server}`;
    void approvals
      .request(
        { kind: "TOOL_CALL", session, what, digest, findings: why, detail },
        {
          parked: (id) =>
            report(`${server}: ${tool.name} waits for an approval: hermes approvals show ${id}`),
        },
      )
      .then(({ granted }) => {
        if (!granted) return;
        this.#agree([tool]);
        this.#options.changed();
      });
  }

  #agree(tools: readonly Definition[]): void {
    const { pins, server } = this.#options;
    pins.agree(
      server,
      tools.map((definition) => ({ name: definition.name, definition })),
    );
  }
}
