import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  parseDocument,
  type YAMLError,
  type Node as YamlNode,
} from "yaml";
import { HermesError } from "../errors.js";
import { Lines, POLICY, type SourceKind, type SourceNode, YamlSource } from "./source.js";

const MAX_BYTES = 4 * 1024 * 1024;
const MAX_NODES = 500_000;
/** The parser recurses, and its lexer runs out of memory on a line of brackets: both end the process, not the load. */
const MAX_DEPTH = 64;

/** Reads a YAML file. Errors name the line. */
export function parseSource(name: string, text: string, kind: SourceKind = POLICY): YamlSource {
  checkText(name, text, kind);
  return new YamlSource(name, text, new Parser(name, text, kind).root, kind);
}

class Parser {
  readonly root: SourceNode | undefined;
  readonly #name: string;
  readonly #text: string;
  readonly #kind: SourceKind;
  readonly #document: Document;
  #nodes = 0;

  constructor(name: string, text: string, kind: SourceKind) {
    this.#name = name;
    this.#text = text;
    this.#kind = kind;
    this.#document = parseDocument(text, {
      version: "1.2",
      schema: "core",
      strict: true,
      uniqueKeys: true,
      prettyErrors: false,
      keepSourceTokens: false,
    });
    const [error] = this.#document.errors;
    if (error) throw this.#syntax(error.pos[0], explain(error));
    const { contents } = this.#document;
    this.root = contents === null ? undefined : this.#read(contents, 0, 0);
  }

  #syntax(offset: number, message: string): HermesError {
    const file = `${this.#name}:${new Lines(this.#text).position(offset)}`;
    return new HermesError(this.#kind.syntax, { file, message });
  }

  /** A value without a position has that of its key. */
  #read(node: unknown, at: number, depth: number): SourceNode {
    if (++this.#nodes > MAX_NODES)
      throw this.#syntax(
        0,
        `it has more than ${MAX_NODES.toLocaleString("en")} values (repeated anchors count each time)`,
      );
    if (depth > MAX_DEPTH) throw this.#syntax(0, "its anchors lead into each other");
    if (node === null || node === undefined) return { at };
    this.#checkNode(node as YamlNode);
    const here = offsetOf(node);
    if (isAlias(node)) return { ...this.#read(this.#resolve(node), here, depth + 1), at: here };
    if (isScalar(node)) {
      const scalar = node.value as string | number | boolean | null;
      const written = typeof scalar === "string" ? scalar : (node.source ?? String(scalar));
      return { at: here, scalar, ...(written !== String(scalar) && { text: written }) };
    }
    if (isSeq(node)) return { at: here, items: node.items.map((item) => this.#read(item, here, depth + 1)) };
    if (!isMap(node)) return { at: here, pairs: [] };
    return { at: here, pairs: node.items.map(({ key, value }) => this.#pair(key, value, depth)) };
  }

  #pair(key: unknown, value: unknown, depth: number) {
    const at = offsetOf(key);
    if (!isScalar(key) || (typeof key.value !== "string" && typeof key.value !== "number"))
      throw this.#syntax(at, "a key is a plain word");
    if (String(key.value) === "__proto__") throw this.#syntax(at, "a key cannot be named __proto__");
    if (key.value === "<<") throw this.#syntax(at, "merge keys (<<) are not part of YAML 1.2");
    return { key: String(key.value), at, node: this.#read(value, at, depth + 1) };
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

  #checkNode(node: YamlNode): void {
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
