import { type Action, type Finding, findings } from "../finding.js";
import type { Context } from "../layer.js";
import type { Subject } from "../subject.js";
import type { Node } from "./tree.js";

const make = findings("python");

/** The findings of one script, each once, at the place in the script that they are about. */
export class Report {
  readonly context: Context;
  readonly #found = new Map<string, Finding>();
  /** Of code inside a string: where the string stands. */
  readonly #at: Node | undefined;

  constructor(context: Context, at?: Node) {
    this.context = context;
    this.#at = at;
  }

  add(action: Action, rule: string, reason: string, node: Node, instead?: string): void {
    this.#put(make[action](rule, reason, this.#span(node), instead));
  }

  /** What other layers say of something that the script would use. */
  relay(subject: Subject, node: Node, softened: (finding: Finding) => Finding | undefined = (f) => f): void {
    for (const finding of this.context.inspect(subject)) {
      const soft = softened(finding);
      if (soft) this.#put({ ...soft, span: this.#span(node) });
    }
  }

  #span(node: Node) {
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

  /** For a script inside this one: its findings are ours, at the place where it was handed over. */
  absorb(inner: Report): void {
    for (const finding of inner.findings) this.#put(finding);
  }
}
