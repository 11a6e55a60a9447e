import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../../support/root.js";
import { makePlace, type Place } from "./place.js";

const envOf = ({ home, store }: Place) => ({
  PATH: process.env.PATH,
  HOME: home,
  HERMES_HOME: home,
  HERMES_STORE: store,
});

describe("the examples for builders of agents", () => {
  it("function calling: a model's calls are made, refused ones are told, and it has the last word", async () => {
    const place = makePlace();
    const heard: { messages: { role: string; content: string }[]; tools: object[] }[] = [];
    const answers = [
      {
        tool_calls: [
          call("1", "terminal_exec", '{"command": "echo from the tool"}'),
          call("2", "terminal_exec", '{"command": "rm -rf /"}'),
        ],
      },
      { tool_calls: [call("3", "read_file", "{broken")] },
      { content: "That is all." },
    ];
    const server = createServer((request, response) => {
      let body = "";
      request.on("data", (bytes) => {
        body += bytes;
      });
      request.on("end", () => {
        heard.push(JSON.parse(body));
        response.end(
          JSON.stringify({ choices: [{ message: { role: "assistant", ...answers[heard.length - 1] } }] }),
        );
      });
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    const child = spawn(process.execPath, [join(root, "examples/function-calling.mjs"), "Do it."], {
      cwd: place.workspace,
      env: { ...envOf(place), OPENAI_BASE_URL: `http://127.0.0.1:${port}` },
    });
    let said = "";
    child.stdout.on("data", (bytes) => {
      said += bytes;
    });
    const [code] = await once(child, "close");
    server.close();
    expect([code, said]).toEqual([0, "That is all.\n"]);
    expect(heard[0]!.tools.length).toBeGreaterThan(5);
    const results = heard[2]!.messages
      .filter(({ role }) => role === "tool")
      .map(({ content }) => JSON.parse(content));
    expect(results).toMatchObject([
      { status: "DONE", output: { stdout: "from the tool\n" } },
      { status: "REFUSED", rule: "delete-everything" },
      { status: "REFUSED", rule: "bad-input" },
    ]);
  });

  it("a loop of their own: one call per line, one result per line", () => {
    const place = makePlace();
    const input = [
      { tool: "write_file", input: { path: "a.txt", content: "hello" } },
      { tool: "terminal_exec", input: { command: "cat a.txt" } },
    ];
    const output = execFileSync(process.execPath, [join(root, "examples/own-loop.mjs")], {
      cwd: place.workspace,
      env: envOf(place),
      input: input.map((line) => JSON.stringify(line)).join("\n"),
      encoding: "utf8",
    });
    const results = output
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(results).toMatchObject([{ status: "DONE" }, { status: "DONE", output: { stdout: "hello" } }]);
  });
});

function call(id: string, name: string, args: string) {
  return { id, type: "function", function: { name, arguments: args } };
}
