import { describe, expect, it } from "vitest";
import { HABITS, habitOf, weighed } from "../../../src/offline/analyze/patterns/habits.js";

const processOf = (command: string) => {
  const argv = command.split(" ");
  return { exe: argv[0]!, argv };
};

describe("every habit", () => {
  for (const habit of HABITS) {
    const { patterns, reason, example } = habit;
    const { command, about } = example;
    const found = { files: about?.startsWith("/") ? [about] : [], ...(about && { address: about }) };
    it.each(patterns)(`${command} (${about ?? "anything"}): its own example of %s`, (pattern) => {
      expect(habitOf(pattern, processOf(command), found)?.reason).toBe(reason);
    });
    if (habit.tool)
      it(`${command}: is another program's no habit`, () => {
        expect(habitOf(patterns[0]!, processOf("/tmp/malware"), found)).toBeUndefined();
        expect(habitOf(patterns[0]!, processOf("python3 evil.py"), found)).toBeUndefined();
      });
    if (habit.files)
      it(`${command}: is no habit where another file is touched too`, () => {
        const files = [...found.files, "/home/user/.config/google-chrome/Default/Cookies"];
        expect(habitOf(patterns[0]!, processOf(command), { files })).toBeUndefined();
      });
  }

  it("is shown, as less", () => {
    const finding = { pattern: "mass-deletion", severity: "alert", title: "It went", evidence: [] } as const;
    const [habit] = HABITS;
    expect(weighed(finding, habit)).toEqual({
      ...finding,
      severity: "notice",
      title: `It went (ordinary: ${habit!.reason})`,
    });
    expect(weighed(finding, undefined)).toBe(finding);
  });
});
