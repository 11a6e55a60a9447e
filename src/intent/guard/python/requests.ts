import type { PyArguments } from "./calls.js";
import type { Evaluator } from "./evaluate.js";
import type { SyntaxNode } from "./tree.js";
import { knownText, options, PY_UNKNOWN } from "./value.js";
import { isOwn } from "./value-origin.js";

/** HTTP clients: they do what curl does. */
const CLIENTS =
  /^(?:urllib\.request|urllib2|urllib3|requests|httpx|aiohttp|http\.client|httplib2?|niquests|treq|requests_html|urllib\.(?:urlopen|urlretrieve))(?:\.|$)/;

export function isWebClient(path: string): boolean {
  return CLIENTS.test(path);
}

/** Arguments whose data is sent, besides the URL. */
const BODY = ["data", "json", "files", "content", "body", "params", "headers"];

/** A request of a script that runs as a command: judged like curl, by its target and its data. */
export function judgeRequest(
  { report }: Evaluator,
  { positional, keywords }: PyArguments,
  node: SyntaxNode,
): void {
  const given = [
    ...positional,
    ...BODY.map((name) => keywords.get(name) ?? PY_UNKNOWN),
    keywords.get("url") ?? PY_UNKNOWN,
  ];
  for (const value of given.flatMap(options)) {
    const url = knownText(value);
    if (url !== undefined && /^\w{2,8}:\/\//.test(url) && url.length <= 2048)
      report.relay({ kind: "url", input: url }, node);
  }
  if (given.some(isOwn))
    report.add(
      "ask",
      "python-upload",
      "This sends data of this machine to another server.",
      node,
      "Fetch with the runtime's tools.",
    );
}
