import type { Span } from "../finding.js";
import type { Ecosystem } from "./popular.js";

/** A package that a command would install or run. */
interface PackageMention extends Span {
  readonly ecosystem: Ecosystem;
  readonly name: string;
  readonly version?: string;
}

const INSTALL: readonly { readonly ecosystem: Ecosystem; readonly pattern: RegExp }[] = [
  {
    ecosystem: "npm",
    pattern:
      /\b(?:npm|pnpm|yarn|bun)[ \t]+(?:install|i|add|global[ \t]+add|exec|dlx)((?:[ \t]+[^\s;&|#`'")]{1,200}){1,24})/gi,
  },
  {
    ecosystem: "npm",
    pattern: /\b(?:npx|bunx|pnpx)((?:[ \t]+-{1,2}[\w=-]{1,40}){0,4}[ \t]+[^\s;&|#`'")]{1,200})/gi,
  },
  {
    ecosystem: "PyPI",
    pattern:
      /\b(?:pip[\d.]{0,4}|pipx|uv[ \t]+pip|poetry|pipenv|uv|conda)[ \t]+(?:install|add|run)((?:[ \t]+[^\s;&|#`'")]{1,200}){1,24})/gi,
  },
  { ecosystem: "PyPI", pattern: /\b(?:uvx)((?:[ \t]+-{1,2}[\w=-]{1,40}){0,4}[ \t]+[^\s;&|#`'")]{1,200})/gi },
];

const NAME: Readonly<Record<Ecosystem, RegExp>> = {
  npm: /^((?:@[\w.-]{1,64}\/)?[\w.-]{1,100})(?:@([\w.^~<>=*-]{1,40}))?$/,
  PyPI: /^([A-Za-z0-9][\w.-]{0,100})(?:\[[\w,-]{0,60}\])?(?:[=~!<>]=?=?([\w.*-]{1,40}))?/,
};

/** The packages that commands inside the text would install. */
export function packageMentions(text: string): PackageMention[] {
  const found: PackageMention[] = [];
  for (const { ecosystem, pattern } of INSTALL)
    for (const match of text.matchAll(pattern)) {
      const base = match.index + match[0].length - match[1]!.length;
      for (const word of match[1]!.matchAll(/[^\s]+/g)) {
        if (/^-/.test(word[0]) || /[/\\:]/.test(word[0].replace(/^@[\w.-]+\//, ""))) continue;
        const name = NAME[ecosystem].exec(word[0]);
        if (!name || /\.(?:txt|toml|whl|tgz|gz|py|js)$/.test(word[0])) continue;
        const start = base + word.index;
        found.push({
          ecosystem,
          name: name[1]!,
          ...(name[2] && { version: name[2] }),
          start,
          end: start + word[0].length,
        });
      }
    }
  return found.slice(0, 64);
}
