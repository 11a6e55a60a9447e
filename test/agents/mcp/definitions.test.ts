import { describe, expect, it } from "vitest";
import { ABOUT, toolDefinition } from "../../../src/agents/mcp/definitions.js";
import { Progress } from "../../../src/agents/mcp/progress.js";
import { loadTools } from "../../../src/agents/tools/catalogue.js";
import { Background } from "../../../src/agents/tools/terminal/background.js";

const tools = [...(await loadTools(new Background(), undefined)).values()];

describe("what a client is told of tools", () => {
  it("is written down for each of them, and for no others", () => {
    expect(Object.keys(ABOUT).sort()).toEqual(tools.map(({ name }) => name).sort());
  });

  for (const tool of tools)
    it(`has examples that fit: ${tool.name}`, () => {
      const { examples } = ABOUT[tool.name]!;
      expect(examples.length).toBeGreaterThan(0);
      for (const example of examples) expect(tool.input.safeParse(example).error).toBeUndefined();
      expect(toolDefinition(tool)).toMatchObject({
        inputSchema: { type: "object", examples },
        annotations: { readOnlyHint: tool.readOnly, destructiveHint: expect.any(Boolean) },
      });
    });
});

describe("what is told of output meanwhile", () => {
  const told = async (...pieces: string[]): Promise<string> => {
    const seen: string[] = [];
    const progress = new Progress(async (_, message) => void seen.push(message));
    for (const piece of pieces) progress.output(Buffer.from(piece));
    await progress.end();
    return seen.join("\n");
  };

  it("is whole lines", async () => {
    expect(await told("one\ntw")).toBe("one");
    expect(await told("nothing yet")).toBe("");
  });

  it("has no key, not even half of one", async () => {
    expect(await told("before\n-----BEGIN RSA PRIVATE KEY-----\nMIIEow", "IBAAKCAQEA\n")).toBe("before");
  });

  it("is the end of what is too much", async () => {
    const much = await told(`${"line\n".repeat(5000)}last\n`);
    expect(much.length).toBeLessThanOrEqual(2000);
    expect(much).toMatch(/last$/);
  });
});
