import { type Action, type Finding, findings } from "../finding.js";
import { intentsOf } from "../intents/intent.js";
import type { Context, Layer } from "../layer.js";
import { invisibles } from "../reading/invisible.js";
import { unicodeScripts } from "../reading/unicode-script.js";
import type { Subject } from "../subject.js";
import { judgeEnv } from "./env.js";
import { launchOf } from "./launch.js";
import { toolDigest } from "./pins.js";
import { POISONING } from "./poisoning.js";
import {
  type DescribedServer,
  type DescribedTool,
  readMcp,
  type SamplingRequest,
  stringsIn,
} from "./reading.js";
import { samplingRefusal } from "./sampling.js";
import { type McpSection, mcpSection } from "./section.js";
import { judgeWorkflow } from "./workflow.js";

const layer = findings("mcp");

/** Judges MCP servers before they start, their tool definitions, their outputs and their requests. */
export const mcpLayer: Layer = {
  name: "mcp",
  kinds: ["mcp"],
  check(subject, context) {
    const { servers, tools, sampling, texts, workflow } = readMcp(subject.input);
    return once([
      ...servers.flatMap((server) => judgeServer(server, context)),
      ...tools.flatMap((tool) => judgeTool(tool, subject, context)),
      ...sampling.flatMap((request) => judgeSampling(request, sectionOf(context), context)),
      ...texts.flatMap((text) => judgeWords(text, context, "ask")),
      ...(workflow === undefined
        ? []
        : judgeWorkflow(workflow).map(({ rule, action, reason, start, end }) =>
            layer[action](rule, reason, { start, end }),
          )),
    ]);
  },
  lookup,
};

function sectionOf(context: Context): McpSection {
  return (context.config.mcp as McpSection | undefined) ?? mcpSection.parse({});
}

function once(all: readonly Finding[]): Finding[] {
  return [
    ...new Map(
      all.map((finding) => [`${finding.rule}:${finding.action}:${finding.reason}`, finding] as const),
    ).values(),
  ].slice(0, 32);
}

function judgeServer(server: DescribedServer, context: Context): Finding[] {
  const found = [...launchOf(server).findings, ...judgeEnv(server.env)].map(({ rule, action, reason }) =>
    layer[action](rule, `${server.name}: ${reason}`),
  );
  if (server.url !== undefined) found.push(...judgeAddress(server.name, server.url, context));
  if (server.command !== undefined) found.push(...judgeCommand(server, context), ...judgeRoots(server));
  found.push(...judgeWords(server.name, context, "deny"));
  return found;
}

/** A server on the user's own host is ordinary; one with a misleading host name is not. */
const OWN_NETWORK = new Set([
  "loopback",
  "loopback-name",
  "private",
  "unqualified-name",
  "internal-name",
  "foreign-port",
  "address-in-name",
  "credentials-in-url",
]);

function judgeAddress(name: string, url: string, context: Context): Finding[] {
  const found = context.inspect({ kind: "url", input: url });
  const telling = found
    .filter(({ rule }) => !OWN_NETWORK.has(rule))
    .map(({ span: _, ...finding }) => ({ ...finding, reason: `${name}: ${finding.reason}` }));
  const own = found.some(
    ({ rule }) => OWN_NETWORK.has(rule) && rule !== "foreign-port" && rule !== "credentials-in-url",
  );
  if (/^(?:http|ws):/i.test(url.trim()) && !own && telling.length === 0)
    telling.push(
      layer.ask(
        "unprotected-server",
        `${name}: the connection is not encrypted (${url.split(":")[0]}), so others on the network can read and change it.`,
      ),
    );
  return telling;
}

const SHELLS = /^(?:.*[/\\])?(?:(?:ba|z|k|da|fi)?sh|cmd(?:\.exe)?|powershell(?:\.exe)?|pwsh)$/i;

/** What a server's command line would do as a command; only harmful effects count. */
function judgeCommand({ name, command = "", args }: DescribedServer, context: Context): Finding[] {
  const line = [command, ...args].map(quoted).join(" ");
  const script = SHELLS.test(command) ? (args.at(-1) ?? "") : "";
  const found: Finding[] = [];
  if (script !== "") {
    found.push(
      ...context.inspect({ kind: "command", input: script }).filter(({ action }) => action === "deny"),
    );
    found.push(
      ...context
        .inspect({ kind: "text", input: `${line}\n${script}`, fields: { source: "mcp" } })
        .filter(({ action }) => action !== "allow"),
    );
    if (/\b(?:curl|wget|iwr|irm|invoke-webrequest)\b[^|]*\|/i.test(script))
      found.push(layer.deny("pipe-to-interpreter", "The server is code that a URL returns at each start."));
    else if (/[;&|`]|\$\(/.test(script.replace(/^\s*cd\s+\S+\s*&&\s*/, "")))
      found.push(
        layer.ask(
          "shell-server",
          "The server is a shell script on one line, which cannot be reviewed or pinned.",
        ),
      );
  } else {
    found.push(
      ...context
        .inspect({ kind: "text", input: line, fields: { source: "mcp" } })
        .filter(({ action, rule }) => action === "deny" && rule !== "look-alike-package"),
    );
    if (
      args.some((arg) =>
        /^\s*(?:;|&&|\|\|?|`|\$\()|[;&|]\s*(?:curl|wget|bash|sh|nc|rm)\b|\$\((?:curl|wget|cat)/.test(arg),
      )
    )
      found.push(layer.deny("shell-in-arguments", "An argument contains a shell command."));
  }
  return found.map(({ span: _, ...finding }) => ({ ...finding, reason: `${name}: ${finding.reason}` }));
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Folders that a file server is given. */
function judgeRoots({ name, command = "", args }: DescribedServer): Finding[] {
  if (!/filesystem|files?-?server|desktop-commander|shell|terminal/i.test([command, ...args].join(" ")))
    return [];
  return args.flatMap((arg) => {
    if (/(?:^|[/\\])\.(?:ssh|aws|gnupg|kube|docker|config\/gcloud)(?:[/\\]|$)/.test(arg))
      return [layer.deny("server-root", `${name}: ${arg} holds keys and passwords.`)];
    return /^(?:\/|[a-z]:\\?|\/etc|\/root|\/var|\/proc)\/?$/i.test(arg)
      ? [layer.ask("server-root", `${name}: ${arg} is far more than one project.`)]
      : [];
  });
}

/** A tool's definition as the model reads it: its name, its description, and those of its parameters. */
function judgeTool({ name, definition }: DescribedTool, subject: Subject, context: Context): Finding[] {
  const found: Finding[] = [];
  if (!/^[\w.-]{1,128}$/.test(name)) {
    const odd = invisibles(name).length > 0 || unicodeScripts(name).size > 1 || /[\0-\x1f<>{}]/.test(name);
    found.push(
      layer[odd ? "deny" : "ask"](
        "tool-name",
        `The tool name “${name.slice(0, 80)}” can be mistaken for another tool.`,
      ),
    );
  }
  const pinned = pinsOf(subject)[name];
  if (pinned !== undefined && pinned !== toolDigest(definition))
    found.push(layer.ask("tool-changed", `The definition of ${name} changed after it was approved.`));
  for (const text of stringsIn(definition))
    found.push(
      ...judgeWords(text, context, "deny").map((finding) => ({
        ...finding,
        reason: `${name}: ${finding.reason}`,
      })),
    );
  return found;
}

/** `fields.pinned`: digests by tool. */
function pinsOf({ fields }: Subject): Readonly<Record<string, string>> {
  const pinned = fields?.pinned;
  return typeof pinned === "object" && pinned !== null ? (pinned as Record<string, string>) : {};
}

/**
 * Descriptions give instructions by nature: hidden ones are refused. Outputs are data: orders in them ask, unless
 * they are clearly hostile.
 */
function judgeWords(text: string, context: Context, hidden: Extract<Action, "ask" | "deny">): Finding[] {
  const intents = intentsOf(text, "addressed", POISONING).map(({ rule, action, reason }) =>
    layer[action](rule, reason),
  );
  const content = context
    .inspect({ kind: "text", input: text, fields: { source: "mcp" } })
    .filter(
      ({ action, rule }) => action === "deny" || (hidden === "deny" && action === "ask" && HIDDEN.test(rule)),
    )
    .map(({ span: _, ...finding }) => finding);
  return [...intents, ...content];
}

const HIDDEN = /^(?:zero-width|bidi|filler|hidden|tag|terminal|overwritten|control|mixed-script|pipe-to)/;

function judgeSampling(request: SamplingRequest, { sampling }: McpSection, context: Context): Finding[] {
  const found: Finding[] = [];
  for (const model of request.models) {
    const refusal = samplingRefusal({ model }, sampling);
    if (refusal) found.push(layer.deny(refusal.rule, refusal.reason));
  }
  if (request.maxTokens !== undefined && request.maxTokens > sampling.max_tokens_cap)
    found.push(
      layer.ask(
        "max-tokens",
        `${request.maxTokens} tokens exceed mcp.sampling.max_tokens_cap (${sampling.max_tokens_cap}); the rest is cut off.`,
      ),
    );
  if (request.includeContext === "allServers")
    found.push(layer.deny("other-servers-context", "The server asks to see messages of other servers."));
  return [...found, ...request.texts.flatMap((text) => judgeWords(text, context, "deny"))];
}

/** Advisories on the packages that would be downloaded. Without an answer, a package does not start. */
async function lookup(subject: Subject, context: Context): Promise<readonly Finding[]> {
  const packages = readMcp(subject.input).servers.flatMap((server) => launchOf(server).packages);
  if (packages.length === 0 || !context.advisories) return [];
  const { fail_open } = sectionOf(context).osv;
  try {
    const all = await context.advisories(packages);
    return packages.flatMap(({ name, version }, i) => {
      const known = all[i] ?? [];
      const malicious = known.find((one) => one.malicious);
      if (malicious)
        return [
          layer.deny(
            "malicious-package",
            `${name} is malware: ${malicious.id}${malicious.summary ? ` (${malicious.summary})` : ""}.`,
          ),
        ];
      // Without a version, advisories on old releases do not apply to the release that would be downloaded.
      if (version === undefined || known.length === 0) return [];
      return [
        layer.ask(
          "vulnerable-package",
          `${name}@${version} has known weaknesses: ${known
            .slice(0, 5)
            .map(({ id }) => id)
            .join(", ")}.`,
        ),
      ];
    });
  } catch (error) {
    const reason = `No advisories are available on ${packages.map(({ name }) => name).join(", ")}: ${(error as Error).message}`;
    return [
      fail_open
        ? layer.allow("advisories-unavailable", reason)
        : layer.deny("advisories-unavailable", `${reason} (mcp.osv.fail_open is false)`),
    ];
  }
}
