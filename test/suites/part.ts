/** What runs as one command, in an empty folder; $SUITE is the suite's own folder. */
export interface Part {
  readonly name: string;
  readonly script: string;
  readonly seconds: number;
}
