import * as z from "zod";

/** `urls:` in hermes.yaml. A project's file may not set `allow`: it allows something. */
export const urlsSection = z.strictObject({
  /** Targets in the own network that may be reached: names, addresses and ranges, each with an optional port. */
  allow: z
    .array(
      z
        .string()
        .refine(
          (text) => !text.includes("://"),
          "a name, an address or a range with an optional port, not a URL",
        ),
    )
    .default([])
    .describe("e.g. localhost:3000, 10.1.0.0/16, wiki.corp"),
});
export type UrlsSection = z.infer<typeof urlsSection>;
