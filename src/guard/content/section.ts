import * as z from "zod";

/** `security:` in hermes.yaml: an installed scanner that is asked besides the built-in checks. */
export const securitySection = z.strictObject({
  tirith_enabled: z.boolean().default(true),
  /** A name on PATH or an absolute path. */
  tirith_path: z.string().min(1).default("tirith"),
  /** Seconds. */
  tirith_timeout: z.number().positive().max(60).default(5),
  /** What holds when the scanner is missing, slow or broken: true lets the built-in checks decide alone. */
  tirith_fail_open: z.boolean().default(true),
  /** The SHA-256 of the binary. With it, no other binary is ever run. */
  tirith_sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/i)
    .optional(),
});
export type SecuritySection = z.infer<typeof securitySection>;
