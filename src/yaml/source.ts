import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type YAMLError,
} from "yaml";
import { type ErrorCode, HermesError } from "../errors.js";

/** Where something stands in a document: keys and indexes from the top. */
export type Place = readonly (string | number)[];

const MAX_BYTES = 4 * 1024 * 1024;
const MAX_NODES = 500_000;
/** The parser recurses, and its lexer runs out of memory on a line of brackets: both end the process, not the load. */
const MAX_DEPTH = 64;

/** What a file is, for its errors. */
export interface SourceKind {
  readonly syntax: ErrorCode;
  readonly invalid: ErrorCode;
}

export const POLICY: SourceKind = { syntax: "POLICY_SYNTAX", invalid: "POLICY_INVALID" };

/** A YAML file that was read: plain values, and where each of them stands. */
export class Source {
  /** As it was named, for messages. */
  readonly name: string;
  readonly #kind: SourceKind;
  readonly value: unknown;
  readonly #document: Document;
  readonly #lines: LineCounter;

  constructor(name: string, text: string, kind: SourceKind = POLICY) {
    this.name = name;
    this.#kind = kind;
    checkText(name, text, kind);
    this.#lines = new LineCounter();
    this.#document = parseDocument(text, {
      lineCounter: this.#lines,
      version: "1.2",
      schema: "core",
      strict: true,
      uniqueKeys: true,
      prettyErrors: false,
      keepSourceTokens: false,
    });
    const [error] = this.#document.errors;
    if (error) throw this.#syntax(error.pos[0], explain(error));
    let nodes = 0;
    this.value = this.#plain(this.#document.contents, () => {
      if (++nodes > MAX_NODES)
        throw this.#syntax(
          0,
          `it has more than ${MAX_NODES.toLocaleString("en")} values (repeated anchors count each time)`,
        );
    });
  }

  #syntax(offset: number, message: string): HermesError {
    return this.#error(this.#kind.syntax, offset, message);
  }

  #error(code: ErrorCode, offset: number, message: string): HermesError {
    return new HermesError(code, { file: this.#position(offset), message });
  }

  #position(offset: number): string {
    const { line, col } = this.#lines.linePos(offset);
    return `${this.name}:${Math.max(line, 1)}:${Math.max(col, 1)}`;
  }

  // ---------------------------------------------------------------- values

  /** Numbers and booleans stay what they are; a text that looks like one is had from text(). */
  #plain(node: unknown, count: () => void, depth = 0): unknown {
    count();
    if (depth > MAX_DEPTH) throw this.#syntax(0, "its anchors lead into each other");
    if (node === null || node === undefined) return undefined;
    this.#checkNode(node as Node);
    if (isAlias(node)) return this.#plain(this.#resolve(node), count, depth + 1);
    if (isScalar(node)) return node.value;
    if (isSeq(node)) return node.items.map((item) => this.#plain(item, count, depth + 1));
    const result: Record<string, unknown> = {};
    if (isMap(node))
      for (const { key, value } of node.items) {
        if (!isScalar(key) || (typeof key.value !== "string" && typeof key.value !== "number"))
          throw this.#syntax(offsetOf(key), "a key is a plain word");
        if (String(key.value) === "__proto__")
          throw this.#syntax(offsetOf(key), "a key cannot be named __proto__");
        if (key.value === "<<") throw this.#syntax(offsetOf(key), "merge keys (<<) are not part of YAML 1.2");
        result[String(key.value)] = this.#plain(value, count, depth + 1);
      }
    return result;
  }

  #resolve(alias: Parameters<typeof isAlias>[0]): unknown {
    const node = alias as import("yaml").Alias;
    const found = node.resolve(this.#document);
    if (found) return found;
    const text = `*${node.source}`;
    throw this.#syntax(
      offsetOf(node),
      `${text} is an alias to YAML: put a pattern that starts with * into quotes: "${text}"`,
    );
  }

  #checkNode(node: Node): void {
    if (isScalar(node) && node.value === null && node.source !== undefined && node.source !== "")
      throw this.#syntax(
        offsetOf(node),
        node.source === "~"
          ? `a lone ~ means "nothing" to YAML: write "~/" or "\${home}"`
          : `${node.source} is no value here`,
      );
    const { tag } = node as { tag?: string };
    if (tag?.startsWith("!") && !tag.startsWith("!!"))
      throw this.#syntax(
        offsetOf(node),
        `${tag} is a tag to YAML: put a pattern that starts with ! into quotes: "${tag}"`,
      );
    if (tag !== undefined) throw this.#syntax(offsetOf(node), `tags such as ${tag} are not used here`);
  }

  // ---------------------------------------------------------------- places

  #nodeAt(place: Place): { node: unknown; key: unknown } {
    let node: unknown = this.#document.contents;
    let key: unknown;
    for (const step of place) {
      if (isAlias(node)) node = node.resolve(this.#document);
      if (isMap(node)) {
        const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === String(step));
        if (!pair) break;
        key = pair.key;
        node = pair.value ?? pair.key;
      } else if (isSeq(node)) {
        node = node.items[Number(step)] ?? node;
        key = undefined;
      } else break;
    }
    return { node, key };
  }

  /** "file:12:5" of a value. */
  at(place: Place): string {
    return this.#position(offsetOf(this.#nodeAt(place).node));
  }

  error(place: Place, message: string, options: { cause?: unknown; onKey?: boolean } = {}): HermesError {
    const { node, key } = this.#nodeAt(place);
    const error = this.#error(this.#kind.invalid, offsetOf(options.onKey && key ? key : node), message);
    if (options.cause !== undefined) error.cause = options.cause;
    return error;
  }

  /** A scalar as it is written: `0777` and `1.10` stay that. */
  text(place: Place): string {
    let { node } = this.#nodeAt(place);
    if (isAlias(node)) node = node.resolve(this.#document);
    if (!isScalar(node)) throw this.error(place, "a text was expected");
    return typeof node.value === "string" ? node.value : (node.source ?? String(node.value));
  }
}

function offsetOf(node: unknown): number {
  return (node as { range?: [number, number, number] | null } | undefined)?.range?.[0] ?? 0;
}

function checkText(name: string, text: string, { syntax }: SourceKind): void {
  const fail = (line: number, message: string) =>
    new HermesError(syntax, { file: `${name}:${line}:1`, message });
  if (text.length > MAX_BYTES) throw fail(1, `it is larger than ${MAX_BYTES / 1024 / 1024} MB`);
  let depth = 0;
  let line = 1;
  let leading = 0;
  let atStart = true;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 10) {
      line++;
      leading = 0;
      atStart = true;
      continue;
    }
    if (c === 0) throw fail(line, "it holds a NUL byte");
    if (c === 91 || c === 123) depth++;
    else if ((c === 93 || c === 125) && depth > 0) depth--;
    // "- - - x" and "? ? x" nest without brackets, and so do ever deeper lines.
    else if (atStart && (c === 45 || c === 63 || c === 32)) leading += c === 32 ? 0.5 : 1;
    if (atStart && c !== 45 && c !== 63 && c !== 32) atStart = false;
    if (depth > MAX_DEPTH || leading > 2 * MAX_DEPTH)
      throw fail(line, `it is nested more than ${MAX_DEPTH} deep`);
  }
}

/** The parser's message, and what usually leads to it. */
function explain(error: YAMLError): string {
  switch (error.code) {
    case "TAB_AS_INDENT":
      return "a tab is used for indentation: YAML takes spaces only";
    case "DUPLICATE_KEY":
      return "the key is there twice";
    case "BAD_SCALAR_START":
      return `${lowerFirst(error.message)}: put the text into quotes`;
    case "MULTIPLE_DOCS":
      return "it holds more than one document (---)";
    case "BLOCK_AS_IMPLICIT_KEY":
      return `${lowerFirst(error.message)}: put a text with ": " in it into quotes, and check the indentation`;
    default:
      return lowerFirst(error.message);
  }
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
