/** The policy needs more instructions than the kernel takes in one program. */
export class FilterTooLarge extends Error {
  override readonly name = "FilterTooLarge";
  readonly instructions: number;
  readonly limit: number;

  constructor(instructions: number, limit: number) {
    super(
      `The filter needs ${instructions} instructions and the kernel takes at most ${limit}: ` +
        `move some argument tests out of the filter (let the supervisor decide those calls) or merge rules.`,
    );
    this.instructions = instructions;
    this.limit = limit;
  }
}

/** A filter specification that no filter can express. */
export class InvalidFilterSpec extends Error {
  override readonly name = "InvalidFilterSpec";
  /** The place in the specification: `syscall 16, rule 2, test 0`. */
  readonly where: string;

  constructor(where: string, problem: string) {
    super(`${where}: ${problem}`);
    this.where = where;
  }
}

/** A program that the kernel would refuse to load. */
export class InvalidProgram extends Error {
  override readonly name = "InvalidProgram";
  /** Index of the offending instruction. */
  readonly at: number;

  constructor(at: number, problem: string) {
    super(`instruction ${at}: ${problem}`);
    this.at = at;
  }
}
