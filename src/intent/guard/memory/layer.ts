import { type Finding, findings } from "../finding.js";
import { intentsOf, type TextIntent } from "../intents/intent.js";
import type { Context, Layer } from "../layer.js";
import { invisibles } from "../reading/invisible.js";
import type { Subject } from "../subject.js";
import { type MemorySection, memorySection } from "./section.js";
import { MEMORY_SOURCES, type MemorySource } from "./sources.js";

const layer = findings("memory");

/** Longer than a useful note. */
const LENGTH = 100_000;

/** What may be remembered. A later session trusts an entry more than its author may have deserved. */
export const memoryLayer: Layer = {
  name: "memory",
  kinds: ["memory"],
  check: (subject, context) => judgeMemory(subject.input, sourceOf(subject), sectionOf(context)),
};

function sectionOf(context: Context): MemorySection {
  return (context.config.memory as MemorySection | undefined) ?? memorySection.parse({});
}

/** An entry without a source counts as the agent's own. */
function sourceOf({ fields }: Subject): MemorySource {
  const source = fields?.source;
  return MEMORY_SOURCES.find((name) => name === source) ?? "agent";
}

export function judgeMemory(text: string, source: MemorySource, section: MemorySection): Finding[] {
  if (text.length > LENGTH) return [layer.deny("too-long", "This entry is too long for a note.")];
  const hidden = invisibles(text).map(({ rule, what, start, end }) =>
    layer.deny(rule, `This entry has ${what}.`, { start, end }, "Write it without."),
  );
  const origin = source === "user" || source === "agent" ? "addressed" : "outside";
  const intents = intentsOf(text, origin).map((intent) => finding(intent, source, section));
  return [...hidden.slice(0, 8), ...intents];
}

function finding(
  { rule, action, reason, start, end }: TextIntent,
  source: MemorySource,
  section: MemorySection,
): Finding {
  const stricter = action === "ask" && section.distrust.includes(source) ? "deny" : action;
  const said = source === "agent" ? reason : `${reason} (source: ${source})`;
  return layer[stricter](rule, said, { start, end });
}
