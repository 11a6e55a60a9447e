import type { AddressInfo } from "node:net";
import { connect, createServer, type Server, type Socket } from "node:net";

/** A way to a server that can be cut, stalled without a word, and made slow. */
export class Wire {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #target: number;
  #cut = false;
  /** Milliseconds that every piece takes in each direction, and bytes of a piece. */
  delay = 0;
  piece = Number.POSITIVE_INFINITY;

  private constructor(target: number) {
    this.#target = target;
    this.#server = createServer((near) => this.#join(near));
  }

  static async to(target: number): Promise<Wire> {
    const wire = new Wire(target);
    await new Promise<void>((resolve) => wire.#server.listen(0, "127.0.0.1", resolve));
    return wire;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  #join(near: Socket): void {
    if (this.#cut) return void near.destroy();
    const far = connect(this.#target, "127.0.0.1");
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(from);
      from.on("error", () => to.destroy());
      from.on("close", () => {
        this.#sockets.delete(from);
        to.destroy();
      });
      void this.#carry(from, to);
    }
  }

  async #carry(from: Socket, to: Socket): Promise<void> {
    try {
      for await (const bytes of from as AsyncIterable<Buffer>)
        for (let at = 0; at < bytes.length; at += this.piece) {
          if (this.delay > 0) await new Promise((resolve) => setTimeout(resolve, this.delay));
          if (!to.write(bytes.subarray(at, at + this.piece))) await new Promise((go) => to.once("drain", go));
        }
      to.end();
    } catch {
      to.destroy();
    }
  }

  /** As when a cable is pulled, and put back. */
  cut(): void {
    this.#cut = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  mend(target = this.#target): void {
    this.#target = target;
    this.#cut = false;
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
