import type { CompoundList, SyntaxNode, TestExpression, Word as WordNode } from "unbash";
import { either } from "./alternatives.js";
import { arithmetic, type Expander, expandText, expandWord } from "./expand.js";
import { isAlwaysTrue, isRunaway } from "./loops.js";
import type { ReaderState } from "./reader-state.js";
import { HOLE, type Input } from "./script.js";

/** What control flow needs of the reader. */
export interface ListReader extends Expander {
  readonly state: ReaderState;
  /** Reads the commands of a list; returns what they would print. */
  list(list: CompoundList, input?: Input): string;
}

const MAX_LOOPS = 12;

/**
 * Reads conditions and loops; returns what they would print. Every branch may be taken, so afterwards the reader knows
 * only the variables that no branch changed.
 */
export function readControl(node: SyntaxNode, input: Input | undefined, reader: ListReader): string {
  const { state } = reader;
  const before = state.scope.copy();
  let printed = "";
  const each = (...lists: (CompoundList | undefined)[]) => {
    for (const list of lists) if (list) printed = either(printed, reader.list(list, input));
  };
  const runsAway = (body: CompoundList) => {
    if (isRunaway(body, state.text.source)) state.reading.endless ??= state.locate(node.pos, node.end);
  };
  switch (node.type) {
    case "If":
      each(node.clause, node.then, ...node.elif.flatMap(({ clause, then }) => [clause, then]), node.else);
      break;
    case "While":
      each(node.clause, node.body);
      if (isAlwaysTrue(node.clause)) runsAway(node.body);
      break;
    case "ArithmeticFor":
      for (const one of [node.initialize, node.test, node.update]) if (one) arithmetic(one, reader);
      each(node.body);
      if (!node.test) runsAway(node.body);
      break;
    case "For":
    case "Select":
      printed = readLoop(node.name.value, node.wordlist, node.body, input, reader);
      break;
    case "Case":
      expandText(node.word, reader);
      each(...node.items.map(({ body }) => body));
      break;
    case "TestCommand":
      readTest(node.expression, reader);
      break;
    case "ArithmeticCommand":
      arithmetic(node.expression, reader);
      break;
  }
  state.scope.merge(before);
  return printed;
}

function readLoop(
  name: string,
  wordlist: readonly WordNode[] | undefined,
  body: CompoundList,
  input: Input | undefined,
  reader: ListReader,
): string {
  const { scope } = reader.state;
  const words =
    wordlist?.flatMap((one) => expandWord(one, reader)) ?? scope.arguments?.map((text) => ({ text }));
  const values = words?.map(({ text }) => text) ?? [HOLE];
  let printed = "";
  for (const value of values.length > MAX_LOOPS ? [...values.slice(0, MAX_LOOPS), HOLE] : values) {
    scope.set(name, [value]);
    printed += reader.list(body, input);
  }
  return printed;
}

function readTest(expression: TestExpression, reader: ListReader): void {
  if (expression.type === "TestUnary") reader.expandAgain(expandText(expression.operand, reader).text);
  else if (expression.type === "TestBinary")
    for (const side of [expression.left, expression.right]) readCompared(side, expression.operator, reader);
  else if (expression.type === "TestLogical") for (const one of expression.operands) readTest(one, reader);
  else readTest(expression.type === "TestNot" ? expression.operand : expression.expression, reader);
}

/** When it compares numbers, the shell evaluates both sides again: a variable's value, a subscript. */
function readCompared(side: WordNode, operator: string, reader: ListReader): void {
  const { text } = expandText(side, reader);
  if (/^-(eq|ne|lt|le|gt|ge)$/.test(operator))
    for (const value of [text, ...(reader.scope.get(text) ?? [])]) reader.expandAgain(value);
}
