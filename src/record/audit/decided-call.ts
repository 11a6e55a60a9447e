import { formatAddress } from "../../nouns/address.js";
import type { CallEvent } from "../../nouns/event.js";

/** What a call was about, as a trace has it: enough for policies of another day to decide on it. */
export interface DecidedCall {
  readonly args?: Readonly<Record<string, string>>;
  readonly path?: string;
  readonly paths?: readonly string[];
  readonly address?: string;
  readonly argv?: readonly string[];
  readonly flags?: readonly string[];
}

/** Longer command lines are not kept: half of one would be another command. */
const LONGEST_ARGV = 32 * 1024;

export function decidedCall({ paths, address, argv, flags }: CallEvent): DecidedCall {
  const [first] = paths;
  const short = argv && argv.reduce((sum, word) => sum + word.length, 0) <= LONGEST_ARGV;
  if (argv && !short) return {};
  return {
    ...(first && {
      args: Object.fromEntries(paths.map(({ argument, requested }) => [argument, requested])),
      path: first.path,
      paths: paths.map(({ path }) => path),
    }),
    ...(address && { address: formatAddress(address) }),
    ...(argv && { argv: [...argv] }),
    ...(flags.length > 0 && { flags: [...flags] }),
  };
}
