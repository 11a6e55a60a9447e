import type { Layer } from "../layer.js";
import { FindingCollector } from "./finding-collector.js";
import { judgeScript } from "./script.js";

/** What a Python script would do, read from its syntax tree with the values that are known. */
export const pythonLayer: Layer = {
  name: "python",
  kinds: ["python"],
  check({ input }, context) {
    const report = new FindingCollector(context);
    judgeScript(input, report);
    if (context.profile === "strict")
      report.add("ask", "python-approval", "Every script needs an approval.", {
        type: "Script",
        from: 0,
        to: input.length,
        kids: [],
      });
    return report.findings;
  },
};
