import { spellInvisible } from "./format.js";

type Child = Node | string | number | undefined | false;

/** An element. Texts are texts: nothing in them is ever read as markup. */
export function h(
  name: string,
  attributes: Readonly<Record<string, string | number>> = {},
  ...children: Child[]
): HTMLElement {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  add(element, children);
  return element;
}

export function svg(
  name: string,
  attributes: Readonly<Record<string, string | number>> = {},
  ...children: Child[]
): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  add(element, children);
  return element;
}

function add(element: Element, children: readonly Child[]): void {
  for (const child of children)
    if (child !== undefined && child !== false)
      element.append(typeof child === "object" ? child : spellInvisible(String(child)));
}

/** A card of the page. */
export function section(id: string, title: string, note: string, ...children: Child[]): HTMLElement {
  return h(
    "section",
    { id, class: "card" },
    h("header", {}, h("h2", {}, title), h("p", { class: "note" }, note)),
    ...children,
  );
}

const tip = h("div", { class: "tip", role: "tooltip", hidden: "" });

/** What is shown beside the pointer; nothing takes it away. */
export function showTip(event: MouseEvent, ...lines: readonly string[]): void {
  if (!tip.isConnected) document.body.append(tip);
  tip.hidden = lines.length === 0;
  tip.replaceChildren(...lines.map((line, i) => h(i === 0 ? "strong" : "div", {}, line)));
  const right = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
  tip.style.left = `${Math.max(8, right)}px`;
  tip.style.top = `${Math.min(event.clientY + 16, innerHeight - tip.offsetHeight - 8)}px`;
}

export function hideTip(): void {
  tip.hidden = true;
}

/** A canvas that is as sharp as the screen, drawn anew whenever its size changes. */
export function canvas(
  height: number,
  label: string,
  draw: (context: CanvasRenderingContext2D, width: number, height: number) => void,
) {
  const element = h("canvas", { role: "img", "aria-label": label, tabindex: "0" }) as HTMLCanvasElement;
  element.style.height = `${height}px`;
  let asked = false;
  const redraw = () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      const width = element.clientWidth;
      const tall = element.clientHeight;
      const ratio = devicePixelRatio;
      if (width === 0) return;
      if (element.width !== Math.round(width * ratio) || element.height !== Math.round(tall * ratio)) {
        element.width = Math.round(width * ratio);
        element.height = Math.round(tall * ratio);
      }
      const context = element.getContext("2d")!;
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.clearRect(0, 0, width, tall);
      draw(context, width, tall);
    });
  };
  new ResizeObserver(redraw).observe(element);
  document.addEventListener("theme", redraw);
  return { element, redraw };
}

/** A colour of the theme that is in force. */
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
