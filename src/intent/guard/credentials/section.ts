import * as z from "zod";

/** `credentials:` in hermes.yaml. */
export const credentialsSection = z.strictObject({
  pass: z
    .array(z.string().min(1))
    .default([])
    .describe(
      "Credentials that children may have, by name; NAME_* is a family. The runtime's own credentials never pass.",
    ),
  strip: z.array(z.string().min(1)).default([]).describe("Further variables to withhold from children."),
});
export type CredentialsSection = z.infer<typeof credentialsSection>;
