import { h } from "../report/dom.js";
import { lines } from "./view.js";

export interface Finding {
  readonly layer?: string;
  readonly rule: string;
  readonly action?: string;
  readonly reason: string;
  readonly instead?: string;
  readonly span?: { readonly start: number; readonly end: number };
}

export interface Judgement {
  readonly action: "allow" | "ask" | "deny";
  readonly findings: readonly Finding[];
  readonly explanation?: readonly string[];
}

export function finding({ rule, action = "ask", reason, instead }: Finding): HTMLElement {
  return h(
    "div",
    { class: `finding ${action}` },
    h("strong", {}, rule),
    h("span", {}, reason),
    instead !== undefined && h("em", {}, `Instead: ${instead}`),
  );
}

export function part(name: string, content: HTMLElement): HTMLElement {
  return h("section", { class: "part" }, h("h2", {}, name), content);
}

/** A verdict, what was read, and why. */
export function judgement({ action, findings, explanation = [] }: Judgement): HTMLElement {
  return h(
    "div",
    { class: "judgement", "data-action": action },
    h(
      "div",
      { class: `verdict ${action}` },
      { allow: "allowed", ask: "asked about", deny: "refused" }[action],
    ),
    ...findings.map(finding),
    explanation.length > 0 && part("what it would do", lines(explanation.join("\n"))),
  );
}

/** The text, with what findings are about marked. */
export function marked(text: string, findings: readonly Finding[]): HTMLElement {
  const edges = new Set([0, text.length]);
  for (const { span } of findings) {
    if (!span) continue;
    edges.add(Math.min(span.start, text.length));
    edges.add(Math.min(span.end, text.length));
  }
  const order = [...edges].sort((a, b) => a - b);
  return h(
    "pre",
    { class: "marked" },
    ...order.slice(1).map((end, i) => {
      const start = order[i]!;
      const over = findings.filter(({ span }) => span && span.start <= start && span.end >= end);
      const strict = over.some(({ action }) => action === "deny") ? "deny" : over[0]?.action;
      const piece = document.createElement(strict === undefined ? "span" : "mark");
      if (strict !== undefined) piece.className = strict;
      // Line ends are line ends here; all else that cannot be seen is spelled out.
      for (const [n, line] of text.slice(start, end).split("\n").entries()) {
        if (n > 0) piece.append(document.createElement("br"));
        piece.append(h("span", {}, line));
      }
      return piece;
    }),
  );
}
