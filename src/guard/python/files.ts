import type { Finding } from "../finding.js";
import type { Report } from "./report.js";
import type { Node } from "./tree.js";
import { options, textOf, type Value } from "./value.js";

/** Devices that scripts use in good faith. */
const PLAIN_DEVICES = /^\/dev\/(?:null|zero|u?random|std(?:in|out|err)|tty|full|fd\/[012])$/;

/** A file that the script would touch, judged by the layers that know paths. */
export function touches(report: Report, path: Value, access: "read" | "write" | "delete", node: Node): void {
  for (const option of options(path)) {
    const name = textOf(option);
    if (name === undefined || name === "" || PLAIN_DEVICES.test(name)) continue;
    report.relay({ kind: "path", input: name, fields: { access } }, node, softened);
  }
}

/** Scripts run in a folder of their own: going up from there is a question, not an attack. */
function softened(finding: Finding): Finding {
  return finding.layer === "paths" && finding.rule === "traversal" ? { ...finding, action: "ask" } : finding;
}

/** Everything below a folder. The whole machine, or all that a person has, is not what a script works on. */
export function goesThrough(report: Report, path: Value, node: Node): void {
  touches(report, path, "read", node);
  if (
    options(path).some((option) =>
      /^(?:\/|~|\/home|\/root|\/Users|C:[\\/]?|\/home\/[^/]+)\/?$/.test(textOf(option) ?? ""),
    )
  )
    report.add(
      "ask",
      "python-scan",
      "It goes through the whole machine, or through all that a person has.",
      node,
    );
}

const LOOKS_LIKE_PATH = /^(?:[~./]|\w:\\)[^\s]*$|^[^\s:]*\/[^\s]*$|^\.?\w*\.env$|^id_[a-z0-9]+$/;
const SECRET_RULES = new Set([
  "credential-file",
  "env-file",
  "process-secrets",
  "container-socket",
  "likely-credentials",
]);

/** An argument of a function that we know nothing of: if it names a secret, the function may well open it. */
export function mentions(report: Report, args: readonly Value[], node: Node): void {
  for (const arg of args.slice(0, 4).flatMap(options)) {
    const name = textOf(arg);
    if (name === undefined || name.length > 300) continue;
    if (/^https?:\/\//i.test(name)) report.relay({ kind: "url", input: name }, node);
    else if (LOOKS_LIKE_PATH.test(name))
      report.relay({ kind: "path", input: name, fields: { access: "read" } }, node, (finding) =>
        SECRET_RULES.has(finding.rule) ? { ...finding, action: "ask" } : undefined,
      );
  }
}

/** `open` modes and `os.open` flags. */
export function accessOf(mode: Value | undefined): "read" | "write" {
  const text = textOf(mode);
  return text !== undefined && /[wax+]/.test(text) ? "write" : "read";
}
