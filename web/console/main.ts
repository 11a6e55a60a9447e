import { counted } from "../../src/nouns/counted.js";
import { h } from "../report/dom.js";
import { themeButton } from "../report/theme.js";
import { Analysis } from "./analysis.js";
import { get, keepKey, post, Refused } from "./api.js";
import { Approvals, type Pending, type Settled } from "./approvals.js";
import { AuditView } from "./audit.js";
import { setSound, soundIsOn } from "./beep.js";
import { follow } from "./feed.js";
import { Keys } from "./keys.js";
import { Playground } from "./playground.js";
import { Policies } from "./policies.js";
import { SessionsView } from "./sessions.js";
import { Skills } from "./skills.js";
import { button, type User, type View } from "./view.js";

/** The page: who are you, then the views, and what happens meanwhile. */
async function main(): Promise<void> {
  try {
    await login();
    show(await get<User>("/api/me"));
  } catch (error) {
    welcome(error as Error);
  }
}

/** A link's secret is behind the #: used once, and then removed from the address. */
async function login(): Promise<void> {
  const link = /^#login=([\w-]+)$/.exec(location.hash)?.[1];
  if (link === undefined) return;
  history.replaceState(null, "", "/");
  keepKey((await post<{ key: string }>("/api/login", { link })).key);
}

function welcome(error: Error): void {
  document.body.replaceChildren(
    h(
      "main",
      { class: "welcome" },
      h("h1", {}, "HERMES"),
      h(
        "p",
        { class: "why" },
        error instanceof Refused ? error.message : `The console does not answer: ${error.message}`,
      ),
      h("p", {}, "Have a link made on the machine that it runs on:"),
      h("pre", {}, "hermes console link"),
    ),
  );
  themeButton();
  // A link that is opened in this very tab changes only the part behind the #.
  addEventListener("hashchange", () => location.reload(), { once: true });
}

function show(user: User): void {
  const heard = h("p", { class: "heard", role: "status", "aria-live": "polite" });
  const badge = h("span", { class: "badge", hidden: "" });
  const approvals = new Approvals(user, (count) => {
    badge.hidden = count === 0;
    badge.textContent = String(count);
    document.title = count === 0 ? "HERMES" : `(${count}) HERMES`;
    heard.textContent = count === 0 ? "No question waits." : `${counted(count, "question")} to be answered.`;
  });
  const audit = new AuditView();
  const views: readonly View[] = [
    approvals,
    new SessionsView(user),
    new Policies(user),
    audit,
    new Playground(),
    new Analysis(user),
    new Skills(user),
  ];
  const tabs = views.map((view) =>
    h("a", { href: `#${view.id}`, class: "tab" }, view.title, view === approvals && badge),
  );
  const keys = new Keys();
  const link = h("span", { class: "link", title: "connected", role: "img", "aria-label": "connected" });
  const stage = h("main", {});
  document.body.replaceChildren(
    h(
      "header",
      { class: "bar" },
      h("h1", { class: "brand" }, "HERMES"),
      h("nav", {}, ...tabs),
      link,
      soundButton(),
      themeButton(),
      h("span", { class: "who", title: user.role }, `${user.name} (${user.role})`),
      button("?", () => keys.show(), { "aria-label": "keys", title: "keys" }),
      button("log out", () => void logout()),
      heard,
    ),
    stage,
  );

  let current: View | undefined;
  const route = () => {
    const next = views.find(({ id }) => `#${id}` === location.hash) ?? views[0]!;
    if (next === current) return;
    current?.hidden?.();
    current = next;
    // Every link of the bar leads to something, for those who move by links.
    for (const view of views) view.element.id = view === next ? view.id : "";
    const others = views.filter((view) => view !== next).map(({ id }) => h("span", { id, hidden: "" }));
    stage.replaceChildren(next.element, ...others);
    for (const [i, tab] of tabs.entries()) {
      tab.classList.toggle("here", views[i] === next);
      if (views[i] === next) tab.setAttribute("aria-current", "page");
      else tab.removeAttribute("aria-current");
    }
    next.shown?.();
  };
  addEventListener("hashchange", route);
  route();

  addEventListener("keydown", (event) => {
    const typing =
      event.target instanceof HTMLInputElement ||
      event.target instanceof HTMLTextAreaElement ||
      event.target instanceof HTMLSelectElement;
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.repeat && !/^(j|k|Arrow.*)$/.test(event.key)) return;
    if (keys.isOpen) return;
    if (event.key === "?") return keys.show();
    const number = Number(event.key);
    if (number >= 1 && number <= views.length) location.hash = views[number - 1]!.id;
    else if (current?.key) {
      if (/^(Arrow|n$)/.test(event.key)) event.preventDefault();
      current.key(event.key);
    }
  });

  void follow(
    (kind, data) => {
      if (kind === "pending") approvals.replace(data as Pending[]);
      else if (kind === "asked") approvals.asked(data as Pending);
      else if (kind === "settled") approvals.settled(data as Settled);
      else if (kind === "records") audit.written();
    },
    (connected) => {
      link.classList.toggle("lost", !connected);
      const told = connected ? "connected" : "the console does not answer: trying again";
      if (!connected && link.title !== told) heard.textContent = told;
      link.title = told;
      link.setAttribute("aria-label", told);
    },
    () => location.reload(),
  );
}

function soundButton(): HTMLElement {
  const label = () => (soundIsOn() ? "♪ on" : "♪ off");
  const element = button(
    label(),
    () => {
      setSound(!soundIsOn());
      element.textContent = label();
    },
    { class: "sound", title: "a sound when something is asked" },
  );
  return element;
}

async function logout(): Promise<void> {
  await post("/api/logout", {}).catch(() => {});
  keepKey(undefined);
  location.reload();
}

void main();
