/** What the reader looks at: a part of the time, and what the events must contain. Everything on the page follows it. */
export class Look {
  readonly #whole: readonly [number, number];
  range: readonly [number, number];
  text = "";
  process: number | undefined;

  constructor(from: number, to: number) {
    this.#whole = [from, Math.max(to, from + 1e-6)];
    this.range = this.#whole;
  }

  get whole(): readonly [number, number] {
    return this.#whole;
  }
  get isWhole(): boolean {
    return this.range === this.#whole;
  }

  /** At least a microsecond, and never beyond the trace. */
  zoom(from: number, to: number): void {
    const [first, last] = this.#whole;
    const length = Math.min(Math.max(to - from, 1e-6), last - first);
    const start = Math.min(Math.max(from, first), last - length);
    this.range = length >= last - first ? this.#whole : [start, start + length];
    this.#changed("zoom");
  }

  around(time: number): void {
    const [first, last] = this.#whole;
    const length = Math.min(last - first, Math.max((last - first) / 50, 1e-3));
    this.text = "";
    this.process = undefined;
    this.zoom(time - length / 2, time + length / 2);
    document.getElementById("events")?.scrollIntoView({ behavior: "smooth" });
  }

  search(text: string): void {
    this.text = text;
    this.process = undefined;
    this.#changed("search");
    document.getElementById("events")?.scrollIntoView({ behavior: "smooth" });
  }

  only(process: number | undefined): void {
    this.process = process;
    this.#changed("search");
  }

  onChange(act: (what: "zoom" | "search") => void): void {
    document.addEventListener("look", (event) => act((event as CustomEvent).detail));
  }

  #changed(what: "zoom" | "search"): void {
    document.dispatchEvent(new CustomEvent("look", { detail: what }));
  }
}
