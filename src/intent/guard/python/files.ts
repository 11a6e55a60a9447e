import type { Finding } from "../finding.js";
import type { FindingCollector } from "./finding-collector.js";
import type { SyntaxNode } from "./tree.js";
import { knownText, options, type PyValue } from "./value.js";

/** Devices that scripts use in good faith. */
const PLAIN_DEVICES = /^\/dev\/(?:null|zero|u?random|std(?:in|out|err)|tty|full|fd\/[012])$/;

/** A file that the script would touch, judged by the layers for paths. */
export function judgeFileUse(
  report: FindingCollector,
  path: PyValue,
  access: "read" | "write" | "delete",
  node: SyntaxNode,
): void {
  for (const option of options(path)) {
    const name = knownText(option);
    if (name === undefined || name === "" || PLAIN_DEVICES.test(name)) continue;
    report.relay({ kind: "path", input: name, fields: { access } }, node, softened);
  }
}

/** Scripts run in their own folder: going up from there asks, and is not an attack. */
function softened(finding: Finding): Finding {
  return finding.layer === "paths" && finding.rule === "traversal" ? { ...finding, action: "ask" } : finding;
}

/** Judges a walk through a folder. The whole machine or a whole home is too much for a script. */
export function goesThrough(report: FindingCollector, path: PyValue, node: SyntaxNode): void {
  judgeFileUse(report, path, "read", node);
  if (
    options(path).some((option) =>
      /^(?:\/|~|\/home|\/root|\/Users|C:[\\/]?|\/home\/[^/]+)\/?$/.test(knownText(option) ?? ""),
    )
  )
    report.add("ask", "python-scan", "This reads through the whole machine, or through a whole home.", node);
}

const LOOKS_LIKE_PATH = /^(?:[~./]|\w:\\)[^\s]*$|^[^\s:]*\/[^\s]*$|^\.?\w*\.env$|^id_[a-z0-9]+$/;
const SECRET_RULES = new Set([
  "credential-file",
  "env-file",
  "process-secrets",
  "container-socket",
  "likely-credentials",
]);

/** An argument of an unknown function: if it names a secret, the function may open it. */
export function judgeMentions(report: FindingCollector, args: readonly PyValue[], node: SyntaxNode): void {
  for (const arg of args.slice(0, 4).flatMap(options)) {
    const name = knownText(arg);
    if (name === undefined || name.length > 300) continue;
    if (/^https?:\/\//i.test(name)) report.relay({ kind: "url", input: name }, node);
    else if (LOOKS_LIKE_PATH.test(name))
      report.relay({ kind: "path", input: name, fields: { access: "read" } }, node, (finding) =>
        SECRET_RULES.has(finding.rule) ? { ...finding, action: "ask" } : undefined,
      );
  }
}

/** `open` modes and `os.open` flags. */
export function accessOf(mode: PyValue | undefined): "read" | "write" {
  const text = knownText(mode);
  return text !== undefined && /[wax+]/.test(text) ? "write" : "read";
}
