import { type Check, outcome } from "./check.js";

export const DOCTOR_CHECKS: readonly Check[] = [
  {
    name: "`hermes doctor --agents` says that it works, and why not",
    async run(seat) {
      const { agent, settings } = seat.client;
      const told = () => {
        const { agents } = JSON.parse(seat.hermes("doctor", "--agents", "--json").stdout);
        return agents.find(
          (one: { agent: string; scope: string }) => one.agent === agent && one.scope === "project",
        );
      };
      const before = told();
      seat.install();
      const after = told();
      const text = seat.text(`project/${settings}`)!;
      seat.place.write(`project/${settings}`, text.replaceAll("/hermes' hook", "/gone/hermes' hook"));
      const broken = told();
      return outcome(
        {
          "not there": before.installed === false,
          "it works": after.installed && after.problem === undefined,
          "it is broken": typeof broken.problem === "string",
        },
        JSON.stringify({ before, after, broken }),
      );
    },
  },
];
