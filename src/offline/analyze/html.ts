import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { HermesError } from "../../nouns/errors.js";
import { HOME } from "../../nouns/home.js";
import type { EventTable } from "./events.js";
import type { AnalysisReport } from "./report.js";

/**
 * A report as one file that needs nothing else. What a trace holds may be hostile: it goes in as compressed data in
 * base64, which cannot be markup, the page shows it as text, and its policy lets nothing run but the one script.
 */
export function htmlReport(report: AnalysisReport, events: EventTable): string {
  const script = built("report.js");
  const style = built("report.css");
  const policy = `default-src 'none'; script-src '${hash(script)}'; style-src '${hash(style)}'; base-uri 'none'; form-action 'none'`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>HERMES report</title>
<style>${style}</style>
</head>
<body>
<noscript>This report is drawn by a script that it carries along.</noscript>
<script type="application/octet-stream" id="data">${packed(report, events)}</script>
<script>${script}</script>
</body>
</html>
`;
}

/** Length of the texts, the texts as JSON, padding to eight bytes, the numbers. */
function packed(report: AnalysisReport, { bytes, ...texts }: EventTable): string {
  const json = Buffer.from(JSON.stringify({ report, events: texts }));
  const head = Buffer.alloc(8);
  head.writeUInt32LE(json.length);
  const padding = Buffer.alloc((8 - (json.length % 8)) % 8);
  return gzipSync(Buffer.concat([head, json, padding, bytes])).toString("base64");
}

function built(name: string): string {
  const file = join(HOME, "dist/report", name);
  if (!existsSync(file))
    throw new HermesError("UNAVAILABLE", {
      what: "the report's page",
      why: "it is not built: run `npm run build`",
    });
  return readFileSync(file, "utf8").replaceAll("</script", "<\\/script");
}

function hash(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
