import { type Finding, findings } from "../finding.js";
import { type Intent, intentsOf } from "../intents/intent.js";
import type { Context, Layer } from "../layer.js";
import { invisibles } from "../reading/invisible.js";
import type { Subject } from "../subject.js";
import { type MemorySection, memorySection, SOURCES, type Source } from "./section.js";

const layer = findings("memory");

/** Longer than a note that one would want read back into every conversation. */
const LENGTH = 100_000;

/** What may be remembered: an entry is read again with an authority that whoever wrote it may never have had. */
export const memory: Layer = {
  name: "memory",
  kinds: ["memory"],
  check: (subject, context) => judgeMemory(subject.input, sourceOf(subject), sectionOf(context)),
};

function sectionOf(context: Context): MemorySection {
  return (context.config.memory as MemorySection | undefined) ?? memorySection.parse({});
}

/** An entry that does not say where it is from is taken for the agent's own. */
function sourceOf({ fields }: Subject): Source {
  const source = fields?.source;
  return SOURCES.find((name) => name === source) ?? "agent";
}

export function judgeMemory(text: string, source: Source, section: MemorySection): Finding[] {
  if (text.length > LENGTH) return [layer.deny("too-long", "No note is as long as this.")];
  const hidden = invisibles(text).map(({ rule, what, start, end }) =>
    layer.deny(rule, `This entry has ${what}.`, { start, end }, "Write it without."),
  );
  const origin = source === "user" || source === "agent" ? "addressed" : "outside";
  const intents = intentsOf(text, origin).map((intent) => finding(intent, source, section));
  return [...hidden.slice(0, 8), ...intents];
}

function finding(
  { rule, action, reason, start, end }: Intent,
  source: Source,
  section: MemorySection,
): Finding {
  const stricter = action === "ask" && section.distrust.includes(source) ? "deny" : action;
  const said = source === "agent" ? reason : `${reason} (source: ${source})`;
  return layer[stricter](rule, said, { start, end });
}
