import { type ErrorCode, HermesError } from "../errors.js";

/** A position in a document: keys and indexes from the top. */
export type YamlPath = readonly (string | number)[];

/** What a file is, for its errors. */
export interface SourceKind {
  readonly syntax: ErrorCode;
  readonly invalid: ErrorCode;
}

export const POLICY: SourceKind = { syntax: "POLICY_SYNTAX", invalid: "POLICY_INVALID" };

/** A value of a document, and its position. It can be stored as JSON. */
export interface SourceNode {
  /** Where its first character is. */
  readonly at: number;
  readonly scalar?: string | number | boolean | null;
  /** A scalar as it is written, where that is not its value. */
  readonly text?: string;
  readonly items?: readonly SourceNode[];
  readonly pairs?: readonly { readonly key: string; readonly at: number; readonly node: SourceNode }[];
}

/** A YAML file that was read: plain values, and the position of each. */
export class YamlSource {
  /** As it was named, for messages. */
  readonly name: string;
  readonly value: unknown;
  readonly root: SourceNode | undefined;
  readonly #lines: Lines;
  readonly #kind: SourceKind;

  /** `text` is what `root` was made of. */
  constructor(name: string, text: string, root: SourceNode | undefined, kind: SourceKind = POLICY) {
    this.name = name;
    this.root = root;
    this.#lines = new Lines(text);
    this.#kind = kind;
    this.value = plain(root);
  }

  #nodeAt(place: YamlPath): { node: SourceNode | undefined; keyAt: number | undefined } {
    let node = this.root;
    let keyAt: number | undefined;
    for (const step of place) {
      if (node?.pairs) {
        const pair = node.pairs.find(({ key }) => key === String(step));
        if (!pair) break;
        keyAt = pair.at;
        node = pair.node;
      } else if (node?.items) {
        node = node.items[Number(step)] ?? node;
        keyAt = undefined;
      } else break;
    }
    return { node, keyAt };
  }

  #position(offset: number): string {
    return `${this.name}:${this.#lines.position(offset)}`;
  }

  /** "file:12:5" of a value. */
  at(place: YamlPath): string {
    return this.#position(this.#nodeAt(place).node?.at ?? 0);
  }

  error(place: YamlPath, message: string, options: { cause?: unknown; onKey?: boolean } = {}): HermesError {
    const { node, keyAt } = this.#nodeAt(place);
    const file = this.#position((options.onKey ? keyAt : undefined) ?? node?.at ?? 0);
    const error = new HermesError(this.#kind.invalid, { file, message });
    if (options.cause !== undefined) error.cause = options.cause;
    return error;
  }

  /** A scalar as it is written: `0777` and `1.10` stay that. */
  text(place: YamlPath): string {
    const { node } = this.#nodeAt(place);
    if (node?.scalar === undefined) throw this.error(place, "a text was expected");
    return node.text ?? String(node.scalar);
  }
}

/** Numbers and booleans stay what they are; a text that looks like one is had from text(). */
function plain(node: SourceNode | undefined): unknown {
  if (node?.pairs) return Object.fromEntries(node.pairs.map(({ key, node: value }) => [key, plain(value)]));
  return node?.items ? node.items.map(plain) : node?.scalar;
}

/** "12:5" of places in a text. */
export class Lines {
  readonly #text: string;
  #starts: number[] | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  position(offset: number): string {
    this.#starts ??= startsOf(this.#text);
    let low = 0;
    for (let high = this.#starts.length; high - low > 1; ) {
      const middle = (low + high) >> 1;
      if (this.#starts[middle]! <= offset) low = middle;
      else high = middle;
    }
    return `${low + 1}:${offset - this.#starts[low]! + 1}`;
  }
}

function startsOf(text: string): number[] {
  const starts = [0];
  for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", end + 1)) starts.push(end + 1);
  return starts;
}
