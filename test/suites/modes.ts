import { join } from "node:path";
import { root } from "../support/root.js";

/** The ways in which a suite runs under HERMES. */

const policy = (file: string) => join(root, "test/transparency/policies", file);

export interface Mode {
  readonly name: string;
  readonly about: string;
  readonly options: readonly string[];
}

export const MODES: readonly Mode[] = [
  {
    name: "acts",
    about: "a TypeScript policy that looks at all paths and addresses: calls are made on behalf",
    options: ["-p", policy("every-path.ts"), "--door", "notify"],
  },
  {
    name: "yaml",
    about: "a YAML policy that watches every call",
    options: ["-p", policy("every-call.yaml"), "--door", "notify"],
  },
  {
    name: "trace",
    about: "the same looks at the trace door",
    options: ["-p", policy("every-path.ts"), "--door", "trace"],
  },
  { name: "agent", about: "the policy for agents", options: ["-p", "agent"] },
];
