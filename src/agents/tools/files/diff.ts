const CONTEXT = 3;
/** Limit of lines before × lines after that are compared line by line; a larger change is shown as a full replacement. */
const COMPARED = 4_000_000;

type Step = { readonly sign: " " | "-" | "+"; readonly line: string };

/** A unified diff of two texts, for a person to look at. */
export function diff(before: string, after: string): string {
  const steps = stepsOf(lines(before), lines(after));
  const near = steps.map((_, i) =>
    steps.slice(Math.max(0, i - CONTEXT), i + CONTEXT + 1).some(({ sign }) => sign !== " "),
  );
  const out: string[] = [];
  let old = 1;
  let now = 1;
  for (const [i, { sign, line }] of steps.entries()) {
    if (near[i] && !near[i - 1]) out.push(`@@ -${old} +${now} @@`);
    if (near[i]) out.push(sign + line);
    if (sign !== "+") old++;
    if (sign !== "-") now++;
  }
  return out.join("\n");
}

function lines(text: string): string[] {
  const all = text.split("\n");
  if (all.at(-1) === "") all.pop();
  return all;
}

function stepsOf(a: readonly string[], b: readonly string[]): Step[] {
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
  const same = (line: string): Step => ({ sign: " ", line });
  return [
    ...a.slice(0, head).map(same),
    ...middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail)),
    ...a.slice(a.length - tail).map(same),
  ];
}

/** The longest common subsequence, by dynamic programming. */
function middle(a: readonly string[], b: readonly string[]): Step[] {
  const gone = (line: string): Step => ({ sign: "-", line });
  const come = (line: string): Step => ({ sign: "+", line });
  if (a.length * b.length > COMPARED) return [...a.map(gone), ...b.map(come)];
  const width = b.length + 1;
  const common = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      common[i * width + j] =
        a[i] === b[j]
          ? common[(i + 1) * width + j + 1]! + 1
          : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!);
  const steps: Step[] = [];
  for (let i = 0, j = 0; i < a.length || j < b.length; ) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      steps.push({ sign: " ", line: a[i++]! });
      j++;
    } else if (i < a.length && (j === b.length || common[(i + 1) * width + j]! >= common[i * width + j + 1]!))
      steps.push(gone(a[i++]!));
    else steps.push(come(b[j++]!));
  }
  return steps;
}
