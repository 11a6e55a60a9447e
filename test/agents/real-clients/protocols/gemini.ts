import { type Protocol, stream, textIn } from "./protocol.js";

/** Gemini generateContent, at once and streamed. */
export const generateContent: Protocol = {
  path: /:(?:streamGenerateContent|generateContent|countTokens)(?:\?|$)/,
  read({ tools = [], contents = [] }) {
    const parts = contents.flatMap(({ parts: all = [] }: { parts?: unknown[] }) => all);
    const said = contents.filter(({ role }: { role: string }) => role === "user");
    return {
      task: textIn(said.slice(0, 2)),
      tools: tools.flatMap(({ functionDeclarations = [] }: { functionDeclarations?: { name: string }[] }) =>
        functionDeclarations.map(({ name }) => name),
      ),
      results: parts
        .filter((part: object) => "functionResponse" in part)
        .map(({ functionResponse }: { functionResponse: { response: unknown } }) =>
          textIn(functionResponse.response),
        ),
    };
  },
  write(step, at, { url }, response) {
    if (url.includes(":countTokens")) {
      response.writeHead(200, { "content-type": "application/json" }).end('{"totalTokens":1}');
      return;
    }
    const part =
      "say" in step
        ? { text: step.say }
        : { functionCall: { id: `call_${at}`, name: step.tool, args: step.input } };
    const answer = {
      candidates: [{ content: { role: "model", parts: [part] }, finishReason: "STOP", index: 0 }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
      modelVersion: "scripted",
    };
    if (url.includes(":streamGenerateContent")) {
      stream(response);
      response.end(`data: ${JSON.stringify(answer)}\r\n\r\n`);
      return;
    }
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
  },
};
