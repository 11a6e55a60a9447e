// A collector that speaks OTLP/HTTP with JSON as the specification says, and is strict about it. Prints its port; writes
// each span that it takes as a line of the file given. The first request is turned away, as a busy collector would.
import { appendFileSync } from "node:fs";
import { createServer } from "node:http";
import { gunzipSync } from "node:zlib";

const [file] = process.argv.slice(2);
let requests = 0;

function check(condition, what) {
  if (!condition) throw new Error(what);
}

function checkValue(value) {
  const [kind, ...others] = Object.keys(value);
  check(others.length === 0, "a value has one kind");
  if (kind === "stringValue")
    check(typeof value.stringValue === "string" && !/\p{Surrogate}/u.test(value.stringValue), "stringValue");
  else if (kind === "intValue") check(/^-?\d+$/.test(value.intValue), "intValue is text");
  else if (kind === "arrayValue") value.arrayValue.values.forEach(checkValue);
  else check(false, `unknown kind of value ${kind}`);
}

function checkAttributes(attributes) {
  const keys = attributes.map(({ key, value }) => {
    checkValue(value);
    return key;
  });
  check(new Set(keys).size === keys.length, "attribute keys are unique");
}

function checkSpan(span) {
  check(/^[0-9a-f]{32}$/.test(span.traceId) && !/^0+$/.test(span.traceId), "traceId");
  check(/^[0-9a-f]{16}$/.test(span.spanId) && !/^0+$/.test(span.spanId), "spanId");
  check(span.parentSpanId === undefined || /^[0-9a-f]{16}$/.test(span.parentSpanId), "parentSpanId");
  check(typeof span.name === "string" && span.name !== "", "name");
  check(Number.isInteger(span.kind) && span.kind >= 0 && span.kind <= 5, "kind");
  check(/^\d{19}$/.test(span.startTimeUnixNano) && /^\d{19}$/.test(span.endTimeUnixNano), "times are text");
  check(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano), "a span ends after its start");
  check(span.status === undefined || [0, 1, 2].includes(span.status.code), "status");
  checkAttributes(span.attributes);
}

function take(request, body) {
  check(request.headers["content-type"] === "application/json", "content type");
  const text = request.headers["content-encoding"] === "gzip" ? gunzipSync(body) : body;
  for (const { resource, scopeSpans } of JSON.parse(text.toString()).resourceSpans) {
    checkAttributes(resource.attributes);
    check(
      resource.attributes.some(({ key }) => key === "service.name"),
      "service.name",
    );
    for (const { scope, spans } of scopeSpans) {
      check(typeof scope.name === "string", "scope");
      for (const span of spans) {
        checkSpan(span);
        appendFileSync(file, `${JSON.stringify({ ...span, key: request.headers["x-key"] })}\n`);
      }
    }
  }
}

const server = createServer((request, response) => {
  const pieces = [];
  request.on("data", (piece) => pieces.push(piece));
  request.on("end", () => {
    const answer = (status, body, headers = {}) => {
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(JSON.stringify(body));
    };
    if (request.method !== "POST" || request.url !== "/v1/traces")
      return answer(404, { message: `no ${request.url}` });
    if (requests++ === 0) return answer(503, { code: 14, message: "busy" }, { "retry-after": "0.05" });
    try {
      take(request, Buffer.concat(pieces));
      answer(200, { partialSuccess: { rejectedSpans: "1", errorMessage: "one is always too many" } });
    } catch (error) {
      answer(400, { code: 3, message: error.message });
    }
  });
});
server.listen(0, "127.0.0.1", () => process.stdout.write(`${server.address().port}\n`));
