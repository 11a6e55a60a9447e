/** A small S3 server from npm. It looks at the key's name, and not at what it signed. */
declare module "s3rver" {
  export default class S3rver {
    constructor(options: object);
    run(): Promise<unknown>;
    close(): Promise<void>;
  }
}
