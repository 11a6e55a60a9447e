import { readArguments } from "./arguments.js";
import { outputOfFind } from "./output.js";
import { HOLE, type Invocation, type Word, word } from "./script.js";
import { type InnerCommand, scriptAt } from "./unwrap.js";
import { wrapperOptions } from "./wrappers.js";

/** Programs that run another program on their input, or on the files that they find. */

export function xargsCommands({ argv, input }: Invocation): InnerCommand[] {
  const { operands, options } = readArguments(argv.slice(1), wrapperOptions("xargs"), true);
  const replaced =
    options.find(({ name }) => name === "-I" || name === "--replace" || name === "-i")?.value?.text ?? "{}";
  if (operands.length === 0) return [];
  const placed = options.some(({ name }) => /^(-I|-i|--replace)/.test(name));
  const whole = placed || options.some(({ name }) => /^(-0|-d|--null|--delimiter)/.test(name));
  const fed = (whole ? fedLines : fedWords)(input?.text ?? HOLE, argv[0]!);
  const command = placed
    ? operands.map((w) => ({ ...w, text: w.text.replaceAll(replaced, fed[0]?.text ?? HOLE) }))
    : [...operands, ...fed];
  return [{ kind: "argv", label: "xargs", argv: command }];
}

const FED_AT_MOST = 64;

function fedWords(text: string, at: Word): Word[] {
  return text
    .split(/[\s]+/)
    .filter(Boolean)
    .slice(0, FED_AT_MOST)
    .map((one) => word(one, at.span, { glob: /[*?[]/.test(one) }));
}

function fedLines(text: string, at: Word): Word[] {
  return text
    .split(/[\n\0]+/)
    .filter(Boolean)
    .slice(0, FED_AT_MOST)
    .map((one) => word(one, at.span));
}

export function parallelCommands({ argv, input }: Invocation): InnerCommand[] {
  const { operands } = readArguments(argv.slice(1), wrapperOptions("parallel"), true);
  const at = operands.findIndex(({ text }) => /^:::[:+]?$/.test(text));
  const template = at < 0 ? operands : operands.slice(0, at);
  const given = at < 0 ? fedLines(input?.text ?? HOLE, argv[0]!) : operands.slice(at + 1);
  const lines =
    template.length === 0 ? given.map(({ text }) => text) : [substituteAll(template, given[0]?.text ?? HOLE)];
  return lines.slice(0, FED_AT_MOST).flatMap((line) => scriptAt("parallel", argv[0], line));
}

function substituteAll(template: readonly Word[], value: string): string {
  const text = template.map(({ text }) => text).join(" ");
  return /\{[^}]*\}/.test(text) ? text.replace(/\{[./#%]*\}/g, () => value) : `${text} ${value}`;
}

/** `{}` means a path below the first starting point, with the name that find looks for. */
export function findExec(argv: readonly Word[]): InnerCommand[] {
  const inner: InnerCommand[] = [];
  const match = outputOfFind(argv.slice(1)).split("\n");
  for (let i = 1; i < argv.length; i++) {
    const { text } = argv[i]!;
    if (!/^-(exec|execdir|ok|okdir)$/.test(text)) continue;
    const end = argv.findIndex((w, j) => j > i && (w.text === ";" || w.text === "+"));
    const command = argv.slice(i + 1, end < 0 ? argv.length : end);
    for (const path of match.slice(0, FED_AT_MOST))
      inner.push({
        kind: "argv",
        label: `find ${text}`,
        argv: command.map((w) => ({ ...w, text: w.text.replaceAll("{}", () => path) })),
      });
    i += command.length;
  }
  return inner;
}

export function fdExec(argv: readonly Word[]): InnerCommand[] {
  const at = argv.findIndex(({ text }) => /^(-x|-X|--exec|--exec-batch)$/.test(text));
  if (at < 0) return [];
  const command = argv
    .slice(at + 1)
    .map((w) => ({ ...w, text: w.text.replace(/\{[./]*\}/g, () => `./${HOLE}`) }));
  const placed = argv.slice(at + 1).some(({ text }) => /\{[./]*\}/.test(text));
  const path = word(`./${HOLE}`, argv[0]!.span);
  return [{ kind: "argv", label: "fd -x", argv: placed ? command : [...command, path] }];
}
