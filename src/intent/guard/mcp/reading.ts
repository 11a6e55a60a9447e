/** A server as a client's configuration starts it. */
export interface DescribedServer {
  readonly name: string;
  readonly command?: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly url?: string;
  readonly cwd?: string;
}

/** A tool as a server describes it to the model. */
export interface DescribedTool {
  readonly name: string;
  readonly definition: unknown;
}

export interface SamplingRequest {
  readonly models: readonly string[];
  readonly maxTokens?: number;
  readonly texts: readonly string[];
  readonly includeContext?: string;
}

/** The contents of a subject of kind mcp. */
interface McpSubject {
  readonly servers: readonly DescribedServer[];
  readonly tools: readonly DescribedTool[];
  readonly sampling: readonly SamplingRequest[];
  /** Other text that a model would read: outputs of tools, prompts, resources. */
  readonly texts: readonly string[];
  /** Text of a workflow file. */
  readonly workflow?: string;
}

const EMPTY: McpSubject = { servers: [], tools: [], sampling: [], texts: [] };

/**
 * Configurations of clients, commands, tool lists, outputs, sampling requests, workflow files: told apart by their
 * shape.
 */
export function readMcp(input: string): McpSubject {
  const trimmed = input.trim();
  if (/^[[{]/.test(trimmed)) {
    try {
      return merge(readValue(JSON.parse(trimmed), "server"));
    } catch {
      // JSON that does not parse is read as text, as a model would.
    }
  }
  if (
    /^[ \t]*-?[ \t]*uses[ \t]*:[ \t]*\S/m.test(input) ||
    (/^jobs[ \t]*:/m.test(input) && /^(?:["']?on["']?|true)[ \t]*:/m.test(input))
  )
    return { ...EMPTY, workflow: input };
  if (/^\s*(?:mcpServers|servers)\s*:/m.test(input)) return { ...EMPTY, texts: [input] };
  const words = splitWords(trimmed);
  if (words && isLaunch(words))
    return { ...EMPTY, servers: [serverOf("server", { command: words[0], args: words.slice(1) })] };
  return /^https?:\/\/\S+$/i.test(trimmed)
    ? { ...EMPTY, servers: [serverOf("server", { url: trimmed })] }
    : { ...EMPTY, texts: [input] };
}

function merge(parts: readonly Partial<McpSubject>[]): McpSubject {
  return {
    servers: parts.flatMap(({ servers = [] }) => servers),
    tools: parts.flatMap(({ tools = [] }) => tools),
    sampling: parts.flatMap(({ sampling = [] }) => sampling),
    texts: parts.flatMap(({ texts = [] }) => texts),
  };
}

type Json = Record<string, unknown>;
const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function readValue(value: unknown, name: string): Partial<McpSubject>[] {
  if (Array.isArray(value)) return value.flatMap((item, i) => readValue(item, `${name} ${i + 1}`));
  if (typeof value === "string") return [{ texts: [value] }];
  if (!isObject(value)) return [];
  if (value.method === "sampling/createMessage")
    return [{ sampling: [samplingOf(isObject(value.params) ? value.params : {})] }];
  if ("maxTokens" in value && Array.isArray(value.messages)) return [{ sampling: [samplingOf(value)] }];
  const lists = ["mcpServers", "mcp_servers", "servers", "context_servers"].filter((key) =>
    isObject(value[key]),
  );
  if (lists.length > 0)
    return lists.flatMap((key) =>
      Object.entries(value[key] as Json).map(([own, server]) => ({ servers: [serverOf(own, server)] })),
    );
  if (isObject(value.mcp)) return readValue(value.mcp, name);
  if (
    typeof value.command === "string" ||
    Array.isArray(value.command) ||
    typeof value.url === "string" ||
    typeof value.serverUrl === "string"
  )
    return [
      { servers: [serverOf(typeof value.name === "string" ? value.name : name, value)] },
      ...(Array.isArray(value.tools) ? readValue(value.tools, name) : []),
    ];
  if (Array.isArray(value.tools)) return value.tools.flatMap((tool) => readValue(tool, "tool"));
  if (isObject(value.result)) return readValue(value.result, name);
  if (isObject(value.tool)) return readValue(value.tool, name);
  if (
    typeof value.name === "string" &&
    ("description" in value || "inputSchema" in value || "input_schema" in value || "parameters" in value)
  )
    return [{ tools: [{ name: value.name, definition: value }] }];
  const entries = Object.entries(value);
  if (
    entries.length > 0 &&
    entries.every(([, item]) => isObject(item) && ("command" in item || "url" in item || "serverUrl" in item))
  )
    return entries.map(([own, server]) => ({ servers: [serverOf(own, server)] }));
  return [{ texts: stringsIn(value) }];
}

const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
const texts = (value: unknown): string[] =>
  Array.isArray(value)
    ? value.filter((item) => ["string", "number"].includes(typeof item)).map(String)
    : typeof value === "string"
      ? (splitWords(value) ?? [value])
      : [];

function serverOf(name: string, value: unknown): DescribedServer {
  const { command, args, env, environment, url, serverUrl, cwd } = isObject(value) ? value : {};
  const words = Array.isArray(command)
    ? texts(command)
    : command !== undefined
      ? (splitWords(String(command)) ?? [String(command)])
      : [];
  const address = text(url) ?? text(serverUrl);
  const variables = isObject(env) ? env : isObject(environment) ? environment : {};
  return {
    name,
    args: [...words.slice(1), ...texts(args)],
    env: Object.fromEntries(Object.entries(variables).map(([key, item]) => [key, String(item)])),
    ...(words[0] !== undefined && { command: words[0] }),
    ...(address !== undefined && { url: address }),
    ...(typeof cwd === "string" && { cwd }),
  };
}

function samplingOf(params: Json): SamplingRequest {
  const preferences = isObject(params.modelPreferences) ? params.modelPreferences : {};
  const hints = Array.isArray(preferences.hints) ? preferences.hints : [];
  const named = [
    text(params.model),
    ...hints.map((hint) => (isObject(hint) ? text(hint.name) : undefined)),
  ].filter((name) => name !== undefined);
  return {
    models: named,
    texts: stringsIn([params.systemPrompt, params.messages]),
    ...(typeof params.maxTokens === "number" && { maxTokens: params.maxTokens }),
    ...(typeof params.includeContext === "string" && { includeContext: params.includeContext }),
  };
}

/** Every string in a value, and keys that are words: a model reads all of it. */
export function stringsIn(value: unknown, depth = 0): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null || depth > 16) return [];
  return Object.entries(value).flatMap(([key, item]) => [
    ...(/\s/.test(key) ? [key] : []),
    ...stringsIn(item, depth + 1),
  ]);
}

/** The words of a simple command line; undefined for any other. */
function splitWords(line: string): string[] | undefined {
  if (line.length > 8192 || line.includes("\n")) return undefined;
  const words = line.match(/(?:[^\s"']|"[^"]*"|'[^']*')+/g);
  return words?.map((word) =>
    word.replace(/"([^"]*)"|'([^']*)'/g, (_, a?: string, b?: string) => a ?? b ?? ""),
  );
}

const LAUNCHERS =
  /^(?:.*\/)?(?:npx|bunx|pnpx|pnpm|npm|yarn|bun|uvx|uv|pipx|pip|python[\d.]*|py|node|deno|docker|podman|nerdctl|bash|sh|zsh|cmd|powershell|pwsh|java|go|cargo|ruby|tsx|ts-node|env|sudo|curl|wget)(?:\.exe|\.cmd)?$/i;

function isLaunch(words: readonly string[]): boolean {
  return (
    words.length > 0 &&
    (LAUNCHERS.test(words[0]!) || /^(?:[A-Z_][A-Z0-9_]*=|\.{0,2}\/)/.test(words[0]!)) &&
    !/[.!?]$/.test(words.at(-1)!)
  );
}
