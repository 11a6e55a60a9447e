import type { Seat } from "../seat.js";
import { type Check, outcome } from "./check.js";

/** How long one call of a shell takes, from what more of them take longer. */
async function perCall(seat: Seat, calls = 10): Promise<number> {
  const few = await seat.play({ steps: [seat.client.tools.shell("true")] });
  const steps = Array.from({ length: calls + 1 }, () => seat.client.tools.shell("true"));
  const many = await seat.play({ steps });
  return Math.max(0, Math.round((many.milliseconds - few.milliseconds) / calls));
}

export const INSTALL_CHECKS: readonly Check[] = [
  {
    name: "asked in the queue: yes runs it, no does not",
    async run(seat) {
      seat.install();
      const { shell } = seat.client.tools;
      const asked = (answer: "approve" | "deny") =>
        seat.play(
          { steps: [shell(`exec printf '%s-%s' ${answer} 42`)] },
          { meanwhile: (ended) => seat.answering(answer, ended) },
        );
      const yes = await asked("approve");
      const no = await asked("deny");
      return outcome(
        {
          "yes runs it": yes.results[0]?.includes("approve-42") === true,
          "no does not": no.results.length === 1 && !no.results[0]!.includes("deny-42"),
        },
        `${yes.results.join("|")} / ${no.results.join("|")} ${yes.output}`,
      );
    },
  },
  {
    name: "the user's own rules still deny",
    async run(seat) {
      seat.client.ownRule(seat.place);
      const steps = [seat.client.tools.shell("touch made.txt")];
      const before = await seat.play({ steps });
      if (seat.text("project/made.txt") !== undefined)
        return { held: false, why: `the rule does not hold without us: ${before.results.join("|")}` };
      seat.install();
      const after = await seat.play({ steps });
      return outcome(
        {
          "it was called": after.results.length === 1,
          "it is denied": seat.text("project/made.txt") === undefined,
        },
        `${after.results.join("|")} ${after.output}`,
      );
    },
  },
  {
    name: "without its own permission, it still asks",
    async run(seat) {
      const steps = [seat.client.tools.shell("touch made.txt"), seat.client.tools.shell("ls")];
      const before = await seat.play({ steps }, { free: false });
      if (seat.text("project/made.txt") !== undefined) return "none";
      seat.install();
      const after = await seat.play({ steps }, { free: false });
      return outcome(
        {
          "both were called": after.results.length === 2,
          "it is not done": seat.text("project/made.txt") === undefined,
          "what was done before is done":
            /plain/.test(before.results[1]!) === /plain/.test(after.results[1]!),
        },
        `${before.results.join("|")} / ${after.results.join("|")} ${after.output}`,
      );
    },
  },
  {
    name: "`--undo` gives settings back byte for byte",
    async run(seat) {
      const { ownFiles, tools } = seat.client;
      const contents = () => ownFiles.map((file) => seat.text(file));
      const before = contents();
      seat.install();
      const during = contents();
      await seat.play({ steps: [tools.shell("true")] });
      seat.hermes("install", seat.client.agent, "--undo");
      return outcome(
        {
          "installing changed something": JSON.stringify(during) !== JSON.stringify(before),
          "undo brought it back": JSON.stringify(contents()) === JSON.stringify(before),
        },
        JSON.stringify({ before, after: contents() }),
      );
    },
  },
  {
    name: "ms for one `true`: bare, with the hook",
    async run(seat) {
      const bare = await perCall(seat);
      seat.install();
      return { held: true, note: `${bare}, ${await perCall(seat)}` };
    },
  },
];
