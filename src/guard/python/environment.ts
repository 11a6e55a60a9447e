import type { Report } from "./report.js";
import type { Node } from "./tree.js";
import { options, textOf, type Value } from "./value.js";

/** Reading one variable: fine, unless its name says that it is a secret. */
export function readsVariable(report: Report, name: Value | undefined, node: Node): void {
  for (const option of name === undefined ? [] : options(name)) {
    const known = textOf(option);
    if (known === undefined) {
      report.add(
        "ask",
        "python-environ",
        "It reads an environment variable whose name cannot be known.",
        node,
      );
      continue;
    }
    report.relay({ kind: "env", input: known }, node, (finding) => ({
      ...finding,
      action: finding.rule === "env-never" ? "deny" : "ask",
    }));
  }
}

/** Setting one: for this script and whatever it starts. */
export function setsVariable(report: Report, name: Value, value: Value, node: Node): void {
  const [known, text] = [textOf(name), textOf(value)];
  if (known === undefined || text === undefined) return;
  const input = JSON.stringify({ [known]: text });
  report.relay({ kind: "env", input }, node, (finding) =>
    finding.rule === "env-code" ? finding : undefined,
  );
}

export function dumpsEnvironment(report: Report, node: Node): void {
  report.add(
    "deny",
    "python-environ-dump",
    "It takes all environment variables, keys and tokens among them.",
    node,
    "Read the one variable that is needed.",
  );
}

/** What can be asked of the environment without taking all of it. */
export const ENVIRON_METHODS: ReadonlySet<string> = new Set(
  "get pop setdefault update clear copy __getitem__ __setitem__ __delitem__ __contains__".split(" "),
);

/** What may be done with all variables at once: copying them for a child, looking whether one is there. */
export const HARMLESS_WITH_ENVIRON = new Set([
  "builtins.dict",
  "builtins.len",
  "builtins.isinstance",
  "builtins.type",
  "builtins.id",
  "builtins.bool",
  "copy.copy",
  "copy.deepcopy",
  "collections.ChainMap",
  "unittest.mock.patch.dict",
  "mock.patch.dict",
  "typing.cast",
]);
