import { type Check, outcome } from "./check.js";

export const GUARD_CHECKS: readonly Check[] = [
  {
    name: "removal of the hook refused (command, script, edit)",
    async run(seat) {
      const { settings, tools } = seat.client;
      const folder = settings.split("/")[0]!;
      seat.install();
      const before = seat.text(`project/${settings}`);
      seat.place.write(
        "project/over.py",
        `import os\nd = '.' + '${folder.slice(1)}'\n` +
          `for f in (lambda: open(d + '/${settings.split("/")[1]}', 'w').write('{}'), lambda: os.rename(d, 'y')):\n` +
          "    try: f()\n    except OSError as e: print(e)\n",
      );
      const steps = [
        tools.shell(`mv ${folder} x`),
        tools.shell("python3 over.py"),
        tools.shell(`rm -rf ${folder}`),
        tools.write(settings, "{}"),
      ];
      const meanwhile = (ended: AbortSignal) => seat.answering("deny", ended);
      const { results, output } = await seat.play({ steps }, { meanwhile });
      return outcome(
        {
          "all were called": results.length >= 3,
          "the settings are as they were":
            before !== undefined && seat.text(`project/${settings}`) === before,
        },
        `${results.join("|")} ${output}`,
      );
    },
  },
];
