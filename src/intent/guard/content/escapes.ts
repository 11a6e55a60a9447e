import type { Action, Span } from "../finding.js";

/** A terminal escape sequence that does more than colour text. */
interface EscapeSequence extends Span {
  readonly rule: string;
  readonly action: Action;
  readonly reason: string;
}

type Verdict = readonly [rule: string, action: Action, reason: string] | undefined;

const ESC = 0x1b;
const STRING_KINDS: Readonly<Record<string, "osc" | "dcs" | "apc">> = {
  "]": "osc",
  P: "dcs",
  _: "apc",
  "^": "apc",
  X: "apc",
};

/** The same introducers as single characters (C1). */
const C1: Readonly<Record<number, string>> = { 155: "[", 157: "]", 144: "P", 159: "_", 158: "^", 152: "X" };

/** All escape sequences and control characters of a text that a terminal would act on. One pass. */
export function escapeSequences(text: string): EscapeSequence[] {
  const found: EscapeSequence[] = [];
  if (!/[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\r]/.test(text)) return found;
  const add = (verdict: Verdict, start: number, end: number) => {
    if (verdict) found.push({ rule: verdict[0], action: verdict[1], reason: verdict[2], start, end });
  };
  let i = 0;
  while (i < text.length) {
    const code = text.charCodeAt(i);
    const opener = code === ESC ? text[i + 1] : C1[code];
    const body = i + (code === ESC ? 2 : 1);
    if (opener === undefined || (code !== ESC && C1[code] === undefined)) {
      add(control(text, i, code), i, i + 1);
      i += 1;
    } else if (opener === "[") {
      const end = endOfCsi(text, body);
      add(csi(text.slice(body, end), text, i, end) ?? (code === ESC ? undefined : SINGLE), i, end);
      i = end;
    } else if (STRING_KINDS[opener]) {
      const { end, next, terminated } = endOfString(text, body);
      add(
        terminated ? string(STRING_KINDS[opener]!, text.slice(body, end), text, next) : UNTERMINATED,
        i,
        next,
      );
      i = next;
    } else {
      add(simple(opener), i, body);
      i = body;
    }
  }
  return found;
}

/** No program writes colours in this form since terminals had eight bits. */
const SINGLE: Verdict = ["terminal-control", "ask", "This is a control sequence in its one-character form."];
const UNTERMINATED: Verdict = [
  "terminal-string",
  "deny",
  "This escape sequence never ends and hides the text after it.",
];

function endOfCsi(text: string, from: number): number {
  let i = from;
  while (i < text.length && i - from < 256 && /[\x20-\x3f]/.test(text[i]!)) i++;
  return Math.min(i + 1, text.length);
}

function endOfString(text: string, from: number): { end: number; next: number; terminated: boolean } {
  for (let i = from; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x07 || code === 0x9c) return { end: i, next: i + 1, terminated: true };
    if (code === ESC)
      return { end: i, next: text[i + 1] === "\\" ? i + 2 : i, terminated: text[i + 1] === "\\" };
  }
  return { end: text.length, next: text.length, terminated: false };
}

/** ESC and one letter. Character sets (`tput sgr0` sends ESC ( B) are followed by their name. */
function simple(letter: string): Verdict {
  if (letter === "c")
    return ["terminal-reset", "deny", "This resets the terminal and erases what it showed."];
  if (letter === "Z")
    return [
      "terminal-report",
      "deny",
      "This makes the terminal type an answer, as if the user had typed it.",
    ];
  if (/[78=>()*+\\NOHMDE#%]/.test(letter)) return undefined;
  return ["terminal-control", "ask", "This is a control sequence for a terminal, not text."];
}

const REPORT: Verdict = [
  "terminal-report",
  "deny",
  "This makes the terminal type an answer, as if the user had typed it.",
];
const MOVE: Verdict = [
  "terminal-overwrite",
  "ask",
  "This overwrites text on the screen: the terminal shows other text than the input has.",
];

/** Modes that only affect the cursor, wrapping and pasting. */
const HARMLESS_MODES = new Set(["?1", "?7", "?12", "?25", "?2004", "?2026", "?1004", "4", "20", "?1034"]);

function csi(sequence: string, text: string, start: number, end: number): Verdict {
  const final = sequence.at(-1) ?? "";
  const parameters = sequence.slice(0, -1);
  if (final === "m")
    return concealed(parameters)
      ? ["hidden-text", "deny", "This makes text invisible that is still copied."]
      : undefined;
  if (
    /[cnx]/.test(final) ||
    (final === "p" && parameters.includes("$")) ||
    (final === "t" && /^(?:1[1-9]|2[01])$/.test(parameters)) ||
    (final === "u" && parameters.startsWith("?"))
  )
    return REPORT;
  if (final === "i") return ["terminal-print", "deny", "This sends text to a printer or to a program."];
  if (final === "K") return erasedLine(parameters, text, start, end) ? MOVE : undefined;
  if (/[CDGEFBsu@PXbIZqrt]/.test(final)) return undefined;
  if (final === "A" || final === "J" || /[HfdLMST]/.test(final))
    return final === "J" && /^0?$/.test(parameters) ? undefined : MOVE;
  if (final === "h" || final === "l")
    return parameters.split(";").every((mode) => HARMLESS_MODES.has(mode))
      ? undefined
      : ["terminal-mode", "ask", "This switches the terminal to another mode or screen."];
  return ["terminal-control", "ask", "This is a control sequence for a terminal, not text."];
}

/** "Conceal", or text in the colour of its background. */
function concealed(parameters: string): boolean {
  const codes = parameters.split(/[;:]/);
  if (
    codes[0] !== "38" &&
    codes[0] !== "48" &&
    codes.includes("8") &&
    !codes.some((code) => code === "38" || code === "48")
  )
    return true;
  const foreground = codes.find((code) => /^[39][0-7]$/.test(code));
  const background = codes.find((code) => /^(?:4|10)[0-7]$/.test(code));
  return (
    foreground !== undefined && background !== undefined && Number(background) - Number(foreground) === 10
  );
}

/** Whether the erased line had words and others follow: then the sequence hides text. */
function erasedLine(parameters: string, text: string, start: number, end: number): boolean {
  if (!/^[12]$/.test(parameters)) return false;
  const line = text.slice(
    Math.max(text.lastIndexOf("\n", start) + 1, text.lastIndexOf("\r", start) + 1),
    start,
  );
  return (
    /\w{3}/.test(line.replace(/\x1b\[[\d;]*m/g, "")) && /^[^\n]{0,20}\w{2}/.test(text.slice(end, end + 40))
  );
}

function string(kind: "osc" | "dcs" | "apc", body: string, text: string, next: number): Verdict {
  if (kind === "dcs")
    return /^[\d;]*q/.test(body)
      ? ["terminal-image", "ask", "This draws a picture into the terminal."]
      : [
          "terminal-string",
          "deny",
          "A device control string can redefine keys or run commands in some terminals.",
        ];
  if (kind === "apc")
    return body.startsWith("G")
      ? ["terminal-image", "ask", "This draws a picture into the terminal."]
      : ["terminal-string", "deny", "A string for the terminal program itself, invisible to a reader."];
  const number = /^\d{1,5}/.exec(body)?.[0] ?? "";
  if (number === "8") return hyperlink(body, text, next);
  if (["7", "133", "633", "697"].includes(number) || body.startsWith("9;4")) return undefined;
  if (number === "52") return ["terminal-clipboard", "deny", "This writes or reads the clipboard."];
  if (["0", "1", "2", "l", "L"].includes(number || body[0]!))
    return [
      "terminal-title",
      "deny",
      "This sets the window title, which some terminals can be made to type back.",
    ];
  if (/^\d+;(?:.*;)?\?/.test(body)) return REPORT;
  if (/^(?:4|5|1[0-9]|104|11[0-9])$/.test(number))
    return ["terminal-colours", "ask", "This changes the colours of the whole terminal."];
  if (number === "9" || number === "777" || number === "99")
    return ["terminal-notify", "ask", "This shows a desktop notification in the name of another program."];
  return ["terminal-string", "deny", "A command for the terminal program itself, invisible to a reader."];
}

/** A link whose text shows one host and whose target is another. */
function hyperlink(body: string, text: string, next: number): Verdict {
  const target = /^8;[^;]{0,200};(.*)$/s.exec(body)?.[1] ?? "";
  if (target === "") return undefined;
  if (!/^(?:https?|file|mailto|ftp|ssh):/i.test(target))
    return ["terminal-link", "deny", "A click on this link opens something other than a web page."];
  const label = text
    .slice(next, next + 300)
    .split("\x1b")[0]!
    .trim();
  const shown = /^(?:https?:\/\/)?((?:[\w-]{1,63}\.){1,6}[a-z]{2,24})(?:[/:]|$)/i
    .exec(label)?.[1]
    ?.toLowerCase();
  const led = /^\w+:\/\/(?:[^/@]*@)?([^/:?#]+)/.exec(target)?.[1]?.toLowerCase();
  if (shown && led && shown !== led && !led.endsWith(`.${shown}`) && !shown.endsWith(`.${led}`))
    return ["link-mismatch", "deny", `This link reads ${shown} and leads to ${led}.`];
  return undefined;
}

/** Control characters outside of sequences. */
function control(text: string, at: number, code: number): Verdict {
  if (code === 0x08)
    return /\w\x08+[^\x08]/.test(text.slice(Math.max(0, at - 1), at + 40)) && !isOverstrike(text, at)
      ? ["overwritten-text", "deny", "Backspaces make a terminal show other text than the input has."]
      : undefined;
  if (code === 0x0d)
    return overwrites(text, at)
      ? ["overwritten-text", "ask", "A carriage return makes a terminal show other text than the input has."]
      : undefined;
  if (code === 0) return ["nul", "ask", "A NUL ends the text for some programs and not for others."];
  if (code === ESC) return ["terminal-control", "ask", "This is an incomplete control sequence."];
  if (code === 0x7f || (code >= 0x80 && code <= 0x9f && code !== 0x85))
    return ["control-character", "ask", "This is a control character that text does not need."];
  return code < 0x20 && ![0x07, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f].includes(code)
    ? ["control-character", "ask", "This is a control character that text does not need."]
    : undefined;
}

/** `_\bx` and `x\bx` are underlined and bold text in manual pages. */
function isOverstrike(text: string, at: number): boolean {
  return text[at - 1] === "_" || text[at - 1] === text[at + 1] || text[at + 1] === "_";
}

/** A progress bar rewrites nearly the same line; an attacker writes another. */
function overwrites(text: string, at: number): boolean {
  const next = text[at + 1];
  if (next === undefined || next === "\n" || next === "\r" || text[at - 1] === "\r") return false;
  const from = Math.max(text.lastIndexOf("\n", at - 1), text.lastIndexOf("\r", at - 1)) + 1;
  const before = text.slice(Math.max(from, at - 200), at).replace(/\x1b\[[\d;?]*\w/g, "");
  const after = text
    .slice(at + 1, at + 200)
    .split(/[\r\n]/)[0]!
    .replace(/\x1b\[[\d;?]*\w/g, "");
  if (before.trim() === "" || after.trim() === "") return false;
  const words = (line: string) => new Set(line.toLowerCase().match(/[a-z]{3,}/g) ?? []);
  const first = words(before);
  const second = [...words(after)];
  if (first.size === 0 || second.length === 0) return false;
  return !second.some((word) => first.has(word));
}
