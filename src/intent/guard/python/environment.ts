import type { FindingCollector } from "./finding-collector.js";
import type { SyntaxNode } from "./tree.js";
import { knownText, options, type PyValue } from "./value.js";

/** Reading one variable: allowed, unless its name says that it is a secret. */
export function readsVariable(report: FindingCollector, name: PyValue | undefined, node: SyntaxNode): void {
  for (const option of name === undefined ? [] : options(name)) {
    const known = knownText(option);
    if (known === undefined) {
      report.add(
        "ask",
        "python-environ",
        "This reads an environment variable whose name is known only at run time.",
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

/** Setting one: for this script and the programs that it starts. */
export function setsVariable(
  report: FindingCollector,
  name: PyValue,
  value: PyValue,
  node: SyntaxNode,
): void {
  const [known, text] = [knownText(name), knownText(value)];
  if (known === undefined || text === undefined) return;
  const input = JSON.stringify({ [known]: text });
  report.relay({ kind: "env", input }, node, (finding) =>
    finding.rule === "env-code" ? finding : undefined,
  );
}

export function dumpsEnvironment(report: FindingCollector, node: SyntaxNode): void {
  report.add(
    "deny",
    "python-environ-dump",
    "This takes all environment variables, including keys and tokens.",
    node,
    "Read only the variable that you need.",
  );
}

/** Methods that do not read the whole environment. */
export const ENVIRON_METHODS: ReadonlySet<string> = new Set(
  "get pop setdefault update clear copy __getitem__ __setitem__ __delitem__ __contains__".split(" "),
);

/** Uses of the whole environment that are allowed: copying it for a child, testing for a name. */
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
