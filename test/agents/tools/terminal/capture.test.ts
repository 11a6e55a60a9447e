import { describe, expect, it } from "vitest";
import { Capture } from "../../../../src/agents/tools/terminal/capture.js";

function captured(limit: number, ...chunks: (string | Buffer)[]): Capture {
  const capture = new Capture(limit);
  for (const chunk of chunks) capture.add(Buffer.from(chunk));
  return capture;
}

describe("a capture", () => {
  it("is the whole text as long as that fits, to the byte", () => {
    const text = "x".repeat(8192);
    expect(captured(8192, text.slice(0, 5000), text.slice(5000))).toMatchObject({ truncated: false });
    expect(captured(8192, text).text()).toBe(text);
    expect(captured(8192, `${text}y`).truncated).toBe(true);
  });

  it("keeps the beginning and the end, says what is missing, and stays within the limit", () => {
    const capture = captured(1000, `first${"-".repeat(100_000)}last`);
    const text = capture.text();
    expect(capture.truncated).toBe(true);
    expect(text).toMatch(/^first-+\n\[… 100009 bytes in all, the middle is left out …\]\n-+last$/);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1000);
    expect(Buffer.byteLength(text)).toBeGreaterThan(950);
  });

  it("cuts no character in two, for all chunks and cuts", () => {
    for (const letter of ["é", "€", "𝄞"])
      for (let shift = 0; shift < 4; shift++) {
        const bytes = Buffer.from(`${"a".repeat(shift)}${letter.repeat(5000)}`);
        const chunks = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, i) =>
          bytes.subarray(i * 7, i * 7 + 7),
        );
        const text = captured(300, ...chunks).text();
        expect(text).not.toContain("\ufffd");
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(300);
        expect(text.endsWith(letter)).toBe(true);
      }
  });

  it("stays within the limit when bytes are no text", () => {
    for (const size of [100, 299, 300, 301, 5000]) {
      const text = captured(300, Buffer.alloc(size, 0xff)).text();
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(300);
    }
  });
});
