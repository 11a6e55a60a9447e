import { h } from "./dom.js";

const THEMES = ["auto", "dark", "light"] as const;

/** As the system has it, unless the reader says otherwise. */
export function themeButton(): HTMLElement {
  const button = h("button", { type: "button", class: "theme" });
  let theme: (typeof THEMES)[number] = "auto";
  const system = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    document.documentElement.dataset.theme = theme === "auto" ? (system.matches ? "dark" : "light") : theme;
    button.textContent = { auto: "◐ auto", dark: "● dark", light: "○ light" }[theme];
    document.dispatchEvent(new Event("theme"));
  };
  button.addEventListener("click", () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]!;
    apply();
  });
  system.addEventListener("change", apply);
  apply();
  return button;
}
