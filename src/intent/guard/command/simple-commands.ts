import { parse, type Statement, type SyntaxNode } from "unbash";

/** A part of a command line that runs by itself: one program with its words, or a pipeline of some. */
interface SimpleCommand {
  readonly start: number;
  readonly end: number;
  /** Its words, where they are written out: without redirections, expansions, patterns and assignments. */
  readonly literal: readonly string[] | undefined;
}

/** Commands that change the shell itself: a command behind them does something else than alone. */
const CHANGES_SHELL =
  /^(cd|pushd|popd|export|unset|set|shopt|declare|typeset|local|readonly|alias|unalias|source|\.|eval|exec|trap|umask|ulimit|read|mapfile|readarray|getopts|hash|enable|builtin|command|let|shift|return|exit|break|continue|function)$/;

/**
 * The commands that a command line is composed of (`a && b; c`). None when one changes what another does, runs in the
 * background, or is more than a program with words.
 */
export function simpleCommands(input: string): readonly SimpleCommand[] {
  const script = parsed(input);
  if (!script || script.errors?.length) return [];
  const nodes = script.commands.flatMap(({ command: node, background }) =>
    background ? [undefined] : sequence(node),
  );
  const alone = nodes.filter((node) => node !== undefined);
  if (alone.length < nodes.length) return [];
  return alone.map((node) => ({ start: node.pos, end: node.end, literal: literalWords(node, input) }));
}

/** Undefined when it is nested too deep to be parsed: the guard denies that. */
function parsed(input: string): ReturnType<typeof parse> | undefined {
  try {
    return parse(input);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function sequence(node: SyntaxNode | Statement["command"]): (SyntaxNode | undefined)[] {
  if (node.type === "AndOr") return node.commands.flatMap(sequence);
  return [isSimple(node) ? node : undefined];
}

function isSimple(node: SyntaxNode): boolean {
  if (node.type === "Pipeline") return node.commands.every((one) => isSimple(one));
  if (node.type !== "Command" || !node.name) return false;
  const here = node.redirects.some(({ operator }) => operator.startsWith("<<"));
  return !here && !/[$`]/.test(node.name.text) && !CHANGES_SHELL.test(node.name.value);
}

function literalWords(node: SyntaxNode, input: string): readonly string[] | undefined {
  if (node.type !== "Command" || !node.name || node.prefix.length > 0) return undefined;
  if (!node.redirects.every(({ pos, end }) => HARMLESS_REDIRECTION.test(input.slice(pos, end))))
    return undefined;
  const words = [node.name, ...node.suffix.flatMap((one) => (one.type === "Word" ? [one] : []))];
  if (words.length + node.redirects.length <= node.suffix.length) return undefined;
  return words.every(({ pos, end }) => isLiteral(input.slice(pos, end)))
    ? words.map(({ value }) => value)
    : undefined;
}

const HARMLESS_REDIRECTION = /^[12]?>(?:&[12]|\s*\/dev\/null)$/;

/** In single quotes, or of signs that no shell reads in another way. */
function isLiteral(text: string): boolean {
  return /^(?:'[^']*'|"[^"$`\\!]*"|[\w@%+:,./^-]|=(?!\())+$/.test(text);
}
