import type { Arguments } from "./calls.js";
import type { Evaluator } from "./evaluate.js";
import { isOwn } from "./origin.js";
import type { Node } from "./tree.js";
import { options, textOf, UNKNOWN } from "./value.js";

/** Clients of the web: what they do is what curl does. */
const CLIENTS =
  /^(?:urllib\.request|urllib2|urllib3|requests|httpx|aiohttp|http\.client|httplib2?|niquests|treq|requests_html|urllib\.(?:urlopen|urlretrieve))(?:\.|$)/;

export function isWebClient(path: string): boolean {
  return CLIENTS.test(path);
}

/** What is sent along, besides the address. */
const BODY = ["data", "json", "files", "content", "body", "params", "headers"];

/** A request of a script that runs as a command: judged as curl would be, by where it goes and what it takes along. */
export function judgeRequest({ report }: Evaluator, { positional, keywords }: Arguments, node: Node): void {
  const given = [
    ...positional,
    ...BODY.map((name) => keywords.get(name) ?? UNKNOWN),
    keywords.get("url") ?? UNKNOWN,
  ];
  for (const value of given.flatMap(options)) {
    const url = textOf(value);
    if (url !== undefined && /^\w{2,8}:\/\//.test(url) && url.length <= 2048)
      report.relay({ kind: "url", input: url }, node);
  }
  if (given.some(isOwn))
    report.add(
      "ask",
      "python-upload",
      "It sends what it read from this machine to somebody else.",
      node,
      "Fetch with the runtime's own tools.",
    );
}
