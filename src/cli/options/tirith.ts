import type { Command } from "commander";
import { exit } from "../views/output.js";

/** The command for the scanner that the guard may ask. Its code is loaded on use. */
export function addTirithCommands(program: Command): void {
  program
    .command("tirith")
    .description("the scanner tirith, which the guard asks besides its own checks")
    .command("install")
    .description(
      "take a tirith binary in, after its checksum and signature are verified, and pin it in hermes.yaml",
    )
    .argument("<from>", "a file, or an https URL")
    .requiredOption("--sha256 <digest>", "what its SHA-256 must be, from where you trust it")
    .option("--signature <file>", "its signature, verified with cosign")
    .option("--key <file>", "the public key of the signature")
    .addHelpText("after", EXAMPLES)
    .action(async (from, options) =>
      exit(await (await import("../commands/tirith.js")).tirithInstallCommand(from, options)),
    );
}

const EXAMPLES = `
Examples:
  hermes tirith install ./tirith --sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
  hermes tirith install https://example.org/tirith --sha256 9f86… --signature tirith.sig --key cosign.pub`;
