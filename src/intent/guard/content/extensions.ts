import type { Action, Span } from "../finding.js";

interface FileName extends Span {
  readonly rule: string;
  readonly action: Action;
  readonly reason: string;
}

const DOCUMENT =
  "(?:pdf|docx?|xlsx?|pptx?|rtf|odt|jpe?g|png|gif|bmp|webp|svg|txt|mp3|mp4|avi|mov|wav|csv|zip|rar|7z|html?|eml|msg)";
const PROGRAM =
  "(?:exe|scr|bat|cmd|com|pif|vbs|vbe|jse|wsf|wsh|hta|lnk|ps1|jar|msi|msix|cpl|dll|reg|scf|desktop|apk|dmg|iso|img|vhd|command|workflow|xll|chm|gadget|app|elf|run|bin)";

const DOUBLE = new RegExp(
  String.raw`(?<![\w/])[\p{L}\p{N}_()\[\]-][\p{L}\p{N}_ ()\[\].-]{0,80}?\.${DOCUMENT}[\s_\u00a0\u2000-\u200a\u3000.]{0,200}\.${PROGRAM}(?![\w.-])`,
  "giu",
);
const PADDED = new RegExp(
  String.raw`[\p{L}\p{N}_-]{1,80}\.${DOCUMENT}[ \t\u00a0\u2000-\u200a\u3000]{5,400}[^\n]{0,20}\.(?:${PROGRAM}|js|sh|py)\b`,
  "giu",
);

/** The part from the first dot on, which is in every match of the patterns above, and cheap to look for. */
const CORE = new RegExp(
  String.raw`\.${DOCUMENT}(?:[\s_\u00a0\u2000-\u200a\u3000.]{0,200}\.${PROGRAM}|[ \t\u00a0\u2000-\u200a\u3000]{5})`,
  "iu",
);

/** File names that look like a document but are a program. */
export function misleadingNames(text: string): FileName[] {
  if (!CORE.test(text)) return [];
  return [...text.matchAll(DOUBLE), ...text.matchAll(PADDED)].slice(0, 16).map((match) => ({
    rule: "misleading-extension",
    action: "deny" as const,
    reason: `“${match[0].trim().slice(0, 80)}” looks like a document but is a program.`,
    start: match.index,
    end: match.index + match[0].length,
  }));
}
