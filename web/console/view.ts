import { h } from "../report/dom.js";

/** One of the page's views. */
export interface View {
  readonly id: string;
  readonly title: string;
  readonly element: HTMLElement;
  /** It is looked at now, or not any more. */
  shown?(): void;
  hidden?(): void;
  /** A key was pressed, and nothing else wants it. */
  key?(key: string): void;
}

export interface User {
  readonly name: string;
  readonly role: "viewer" | "approver" | "admin";
}

export function button(label: string, act: () => void, attributes: Readonly<Record<string, string>> = {}) {
  const element = h("button", { type: "button", ...attributes }, label) as HTMLButtonElement;
  element.addEventListener("click", act);
  return element;
}

/** Text of several lines, as text. */
export function lines(text: string, of: (line: string) => string = () => ""): HTMLElement {
  return h(
    "pre",
    {},
    ...text.split("\n").map((line) => {
      const name = of(line);
      return h("div", name === "" ? {} : { class: name }, line === "" ? " " : line);
    }),
  );
}

export function clock(time: number): string {
  return new Date(time).toLocaleTimeString([], { hour12: false });
}

const notices = h("div", { class: "notices", role: "status", "aria-live": "polite" });

/** A message to the user, for a while. */
export function notice(text: string, kind: "good" | "bad" | "plain" = "plain"): void {
  if (!notices.isConnected) document.body.append(notices);
  const element = h("div", { class: `notice ${kind}` }, text);
  notices.append(element);
  while (notices.childElementCount > 4) notices.firstElementChild!.remove();
  setTimeout(() => element.remove(), 6000);
}
