import { escapeControl } from "../../nouns/text.js";
import type { FlowGraph, GraphBlock } from "./graph.js";
import { functionName } from "./syscalls.js";

const MOST_LINES = 60;

/** The lines of a block as they are drawn. */
export function blockLines({ address, instructions, end }: GraphBlock): string[] {
  const lines = instructions
    .slice(0, MOST_LINES)
    .map(
      ({ address: at, text, calls }) =>
        `${at.toString(16)}  ${text}${calls === undefined ? "" : `  ; ${escapeControl(calls)}`}`,
    );
  if (instructions.length > MOST_LINES) lines.push(`… ${instructions.length - MOST_LINES} more`);
  if (end === "unknown") lines.push("→ an unknown place");
  return [`${address.toString(16)}:`, ...lines];
}

export const EDGE_COLOURS = {
  taken: "#1a7f37",
  fall: "#b42318",
  jump: "#1f5fbf",
  switch: "#8250df",
} as const;

/** For Graphviz. */
export function toDot(graph: FlowGraph): string {
  const id = (address: number) => `b${address.toString(16)}`;
  const roots = new Set(graph.roots);
  return `${[
    `digraph ${quoted(functionName(graph.function))} {`,
    '  node [shape=box, fontname="monospace", fontsize=10];',
    ...graph.blocks.map((block) => {
      const label = blockLines(block)
        .map((line) => `${escaped(line)}\\l`)
        .join("");
      return `  ${id(block.address)} [label="${label}"${roots.has(block.address) ? ", penwidth=2" : ""}];`;
    }),
    ...graph.blocks.flatMap(({ address, edges }) =>
      edges.map(
        ({ to, kind }) => `  ${id(address)} -> ${id(to)} [color="${EDGE_COLOURS[kind]}", tooltip="${kind}"];`,
      ),
    ),
    "}",
  ].join("\n")}\n`;
}

const escaped = (text: string) => text.replace(/[\\"]/g, "\\$&");
const quoted = (text: string) => `"${escaped(escapeControl(text))}"`;
