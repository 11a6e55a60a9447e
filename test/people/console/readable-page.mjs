/* global document, getComputedStyle, innerWidth, NodeFilter, SVGElement */

/** Runs in the page (readable.ts): what some people could not read or use. */
export function unreadable() {
  const problems = new Set();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const parse = (text) => {
    const [r = 0, g = 0, b = 0, a = 1] = (text.match(/[\d.]+/g) ?? []).map(Number);
    return [r, g, b, a];
  };
  const over = ([r, g, b, a], [R, G, B]) => [
    r * a + R * (1 - a),
    g * a + G * (1 - a),
    b * a + B * (1 - a),
    1,
  ];
  // Relative luminance and contrast as WCAG 2 defines them.
  const light = (colour) => {
    const [r, g, b] = colour.map((value) => {
      const share = value / 255;
      return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => {
    const [low, high] = [light(a), light(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };
  const ground = (element) => {
    if (!element) return [255, 255, 255, 1];
    const own = parse(getComputedStyle(element).backgroundColor);
    return own[3] === 1 ? own : over(own, ground(element.parentElement));
  };
  const opacity = (element) =>
    element ? Number(getComputedStyle(element).opacity) * opacity(element.parentElement) : 1;
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    const element = node.parentElement;
    const text = node.textContent.trim();
    if (text === "" || element.closest("button:disabled, script, noscript, style")) continue;
    if (element.getBoundingClientRect().width === 0) continue;
    const style = getComputedStyle(element);
    const isDrawn = element instanceof SVGElement;
    // What is drawn lies on shapes of its own, which are in the theme's colour of lines.
    const shape = isDrawn ? element.parentElement.querySelector("rect") : undefined;
    const behind = shape ? parse(getComputedStyle(shape).fill) : ground(element);
    const [r, g, b, a] = parse(isDrawn ? style.fill : style.color);
    const found = contrast(over([r, g, b, a * opacity(element)], behind), behind);
    if (found < 4.5)
      problems.add(
        `contrast ${found.toFixed(2)}: <${element.localName} class="${element.getAttribute("class") ?? ""}"> ${text.slice(0, 30)}`,
      );
  }
  const headings = document.querySelectorAll("h1").length;
  if (headings !== 1) problems.add(`${headings} h1`);
  const { scrollWidth } = document.documentElement;
  if (scrollWidth > innerWidth) problems.add(`${scrollWidth} pixels wide on a screen of ${innerWidth}`);
  for (const field of document.querySelectorAll("input, select, textarea, button, canvas"))
    if (
      field.getClientRects().length > 0 &&
      !field.getAttribute("aria-label") &&
      !field.labels?.length &&
      field.textContent.trim() === ""
    )
      problems.add(`no name: ${field.outerHTML.slice(0, 80)}`);
  return [...problems];
}
