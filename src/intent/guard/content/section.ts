import * as z from "zod";

/** `security:` in hermes.yaml: an installed scanner that the guard asks besides its own checks. */
export const securitySection = z.strictObject({
  tirith_enabled: z.boolean().default(true),
  /** A name on PATH, or an absolute path. */
  tirith_path: z.string().min(1).default("tirith"),
  /** Seconds. */
  tirith_timeout: z.number().positive().max(60).default(5),
  /** When the scanner is missing, slow or broken: true falls back to the built-in checks alone, false refuses. */
  tirith_fail_open: z.boolean().default(true),
  /** The SHA-256 of the binary. With it, the guard never runs another binary. */
  tirith_sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/i)
    .optional(),
});
export type SecuritySection = z.infer<typeof securitySection>;
