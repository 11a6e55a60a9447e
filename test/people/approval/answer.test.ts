import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  addToAllowList,
  readAnswerLists,
  removeFromAnswerLists,
} from "../../../src/people/approval/allow-list.js";
import {
  ANSWERS,
  answerFor,
  answersOffered,
  kindOf,
  parseAnswer,
} from "../../../src/people/approval/answer.js";
import { readToken, signToken } from "../../../src/people/approval/token.js";

describe("an answer", () => {
  it.each([
    ["y", "once"],
    ["YES", "once"],
    [" s ", "session"],
    ["a", "always"],
    ["n", "no"],
    ["no", "no"],
    ["ns", "no-session"],
    ["na", "never"],
    ["never", "never"],
  ])("is read from %j", (word, answer) => expect(parseAnswer(word)).toBe(answer));

  it.each(["", "yep", "alwaysx", undefined, 1, {}])("is not read from %j", (word) =>
    expect(parseAnswer(word)).toBeUndefined(),
  );

  it("has an effect and a duration, and there is one for each of both", () => {
    for (const answer of ANSWERS) expect(answerFor(kindOf(answer).grants, kindOf(answer).scope)).toBe(answer);
    expect(new Set(ANSWERS.map((answer) => JSON.stringify(kindOf(answer).text))).size).toBe(6);
  });

  it("for always is not offered where it cannot hold; a refusal for always is", () => {
    expect(answersOffered(undefined)).toEqual(ANSWERS);
    expect(answersOffered("a shell")).toEqual(["once", "session", "no", "no-session", "never"]);
  });

  it("can be signed as a token, each of them", () => {
    const secret = "s".repeat(40);
    for (const answer of ANSWERS) {
      const token = { id: "0123456789abcdef", answer, expires: Date.now() + 60_000 };
      expect(readToken(secret, signToken(secret, token))).toEqual(token);
    }
  });
});

describe("the lists of answers in hermes.yaml", () => {
  it("are read with their comments, and lose an entry without losing anything else", async () => {
    const folder = mkdtempSync(join(tmpdir(), "hermes-lists-"));
    const file = join(folder, "hermes.yaml");
    try {
      expect(readAnswerLists(file)).toEqual([]);
      const before = "# mine\napprovals:\n  allow:\n    - recursive delete # by hand\n";
      writeFileSync(file, before);
      await addToAllowList(file, "exact:abc", "ls (cli:alice)");
      await addToAllowList(file, "exact:def", "rm x (cli:bob)", "deny");
      expect(readAnswerLists(file)).toEqual([
        { list: "allow", key: "recursive delete", comment: "by hand" },
        { list: "allow", key: "exact:abc", comment: "ls (cli:alice)" },
        { list: "deny", key: "exact:def", comment: "rm x (cli:bob)" },
      ]);
      await removeFromAnswerLists(file, "exact:abc");
      await removeFromAnswerLists(file, "exact:def");
      await removeFromAnswerLists(file, "exact:unknown");
      expect(readFileSync(file, "utf8")).toBe(`${before}  deny: []\n`);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
