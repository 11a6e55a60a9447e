import { type Action, type Finding, findings } from "../finding.js";
import type { Context } from "../layer.js";
import type { Subject } from "../subject.js";
import type { SyntaxNode } from "./tree.js";

const make = findings("python");

/** The findings of one script, each once, at its place in the script. */
export class FindingCollector {
  readonly context: Context;
  readonly #found = new Map<string, Finding>();
  /** For code inside a string: where the string is. */
  readonly #at: SyntaxNode | undefined;

  constructor(context: Context, at?: SyntaxNode) {
    this.context = context;
    this.#at = at;
  }

  add(action: Action, rule: string, reason: string, node: SyntaxNode, instead?: string): void {
    this.#put(make[action](rule, reason, this.#span(node), instead));
  }

  /** Findings of other layers on something that the script would use. */
  relay(
    subject: Subject,
    node: SyntaxNode,
    softened: (finding: Finding) => Finding | undefined = (f) => f,
  ): void {
    for (const finding of this.context.inspect(subject)) {
      const soft = softened(finding);
      if (soft) this.#put({ ...soft, span: this.#span(node) });
    }
  }

  #span(node: SyntaxNode) {
    const { from, to } = this.#at ?? node;
    return { start: from, end: to };
  }

  #put(finding: Finding): void {
    const key = `${finding.layer} ${finding.rule} ${finding.span?.start} ${finding.action}`;
    if (!this.#found.has(key)) this.#found.set(key, finding);
  }

  get findings(): readonly Finding[] {
    return [...this.#found.values()];
  }

  /** For a script inside this one: its findings are added at the place of the call. */
  absorb(inner: FindingCollector): void {
    for (const finding of inner.findings) this.#put(finding);
  }
}
