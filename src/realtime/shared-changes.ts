/**
 * One reader of the write-ahead log for the processes of `svc start --processes`: the process that started them reads,
 * and sends what the server sent to each of them that has sockets. Each of them decodes by itself. If the reader loses
 * its connection, they hear of the gap; if it ends, they end with it.
 * Next hop: `change-decoder.ts` in the processes; `src/cli/processes.ts` starts them.
 */
import type { Worker } from "node:cluster";
import type { Logger } from "pino";
import { type FrameSink, frames } from "./change-decoder.ts";
import { ChangeReader } from "./replication.ts";
import { TransactionIds } from "./transaction-ids.ts";

/** Asks the process that started this one for changes. */
const askChanges = "svc: changes";

/** Several frames, each behind its length; or a state of the flow. */
type Message = { [askChanges]: Uint8Array | { live: string; history: string } | "lost" };

/** In bytes, see `ChangeSender`. */
const defaultMost = 64 * 1024 * 1024;

/** In milliseconds, after a frame that cannot be decoded. */
const asksAgainAfter = 200;

interface SharedOptions {
  to: FrameSink;
  log: Logger;
  /** Asks to join. (Default: the process that started this one) */
  ask?: () => void;
}

/** Like `ChangeReader`, in a process that shares its port. */
export class SharedChanges {
  readonly #to: FrameSink;
  readonly #log: Logger;
  readonly #ask: () => void;
  #isAsking = false;
  /** Whether frames are decoded: between `live` and `lost`. */
  #isLive = false;
  #again: NodeJS.Timeout | undefined;

  constructor({ to, log, ask = () => process.send?.(askChanges) }: SharedOptions) {
    this.#to = to;
    this.#log = log;
    this.#ask = ask;
  }

  start(): void {
    if (this.#isAsking) return;
    this.#isAsking = true;
    process.on("message", this.hear);
    process.channel?.unref(); // a listener would keep the process running after its last request
    this.#ask();
  }

  async stop(): Promise<void> {
    clearTimeout(this.#again);
    process.off("message", this.hear);
  }

  /** Takes what `ChangeSender` has sent, and ignores all else. */
  readonly hear = (message: Partial<Message> | null): void => {
    const said = message?.[askChanges];
    if (said === undefined) return;
    if (said === "lost") this.#lose();
    else if (said instanceof Uint8Array) this.#decode(said);
    else {
      clearTimeout(this.#again);
      this.#isLive = true;
      this.#to.live(BigInt(said.live), said.history);
    }
  };

  #decode(packed: Uint8Array): void {
    if (!this.#isLive) return;
    try {
      for (const frame of unpack(packed)) this.#to.frame(frame);
    } catch (err) {
      // If it were thrown here, it would end the process, and each that decodes the same.
      this.#log.warn({ err }, "realtime cannot read changes; trying again");
      this.#lose();
      this.#again = setTimeout(this.#ask, asksAgainAfter).unref();
    }
  }

  #lose(): void {
    if (this.#isLive) this.#to.lost();
    this.#isLive = false;
  }
}

/** A process that has asked. */
interface Member {
  worker: Worker;
  /** Whether it gets frames. */
  isJoined: boolean;
  /** Bytes that it has not taken yet. */
  waiting: number;
}

/** Reads for the processes that this one has started. */
export class ChangeSender implements FrameSink {
  readonly #reader: ChangeReader;
  readonly #members = new Set<Member>();
  #ids: TransactionIds | undefined;
  #history = "";
  /** The server describes each table only once. */
  readonly #relations = new Map<number, Buffer>();
  #isInside = false;
  #batch: Buffer[] = [];
  readonly #most: number;

  /** @param most bytes that may wait for a process; then it hears that it lost the flow, and joins again when they are taken */
  constructor(url: string, log: Logger, most = defaultMost) {
    this.#most = most;
    this.#reader = new ChangeReader({ url, to: this, log });
  }

  /** Sends the changes to a process that asks for them. */
  serve(worker: Worker): void {
    const member = { worker, isJoined: false, waiting: 0 };
    worker.on("message", (message: unknown) => {
      if (message !== askChanges) return;
      member.isJoined = false; // one that asks again has lost the flow by itself
      this.#members.add(member);
      this.#reader.start();
      this.#join();
    });
    worker.once("exit", () => this.#members.delete(member));
  }

  stop(): Promise<void> {
    return this.#reader.stop();
  }

  frame(bytes: Buffer): void {
    if (bytes[0] === frames.begin) {
      this.#ids?.full(bytes.readUInt32BE(17));
      this.#isInside = true;
    }
    if (bytes[0] === frames.relation) this.#relations.set(bytes.readUInt32BE(1), Buffer.from(bytes));
    if (bytes.length > this.#most) {
      this.#leaveAll(); // a copy for each would fill our memory
      return;
    }
    if (this.#batch.length === 0) setImmediate(() => this.#flush());
    this.#batch.push(Buffer.from(bytes)); // the driver uses its memory again
    if (bytes[0] !== frames.commit) return;
    this.#isInside = false;
    this.#join();
  }

  live(before: bigint, history: string): void {
    this.#ids = new TransactionIds(before);
    this.#history = history;
    this.#relations.clear();
    this.#join();
  }

  lost(): void {
    this.#ids = undefined;
    this.#isInside = false;
    this.#leaveAll();
  }

  /** Between two transactions: a process gets each whole or not at all. */
  #join(): void {
    if (!this.#ids || this.#isInside) return;
    const joining = [...this.#members].filter(({ isJoined, waiting }) => !isJoined && waiting === 0);
    if (joining.length === 0) return;
    this.#flush();
    for (const member of joining) {
      member.isJoined = true;
      // What it has missed has ids up to the highest so far.
      this.#send(member, { live: String(this.#ids.recent + 1n), history: this.#history });
      if (this.#relations.size > 0) this.#send(member, pack([...this.#relations.values()]));
    }
  }

  #leaveAll(): void {
    this.#flush();
    for (const member of this.#members) if (member.isJoined) this.#leave(member);
  }

  #leave(member: Member): void {
    member.isJoined = false;
    this.#send(member, "lost");
  }

  #flush(): void {
    if (this.#batch.length === 0) return;
    const packed = pack(this.#batch.splice(0));
    for (const member of this.#members) {
      if (!member.isJoined) continue;
      this.#send(member, packed);
      if (member.waiting > this.#most) this.#leave(member);
    }
  }

  #send(member: Member, said: Message[typeof askChanges]): void {
    const { worker } = member;
    if (!worker.isConnected()) return;
    const bytes = said instanceof Uint8Array ? said.length : 1;
    member.waiting += bytes;
    worker.send({ [askChanges]: said }, () => {
      member.waiting -= bytes;
      if (member.waiting === 0 && !member.isJoined) this.#join();
    });
  }
}

function pack(all: readonly Buffer[]): Buffer {
  return Buffer.concat(
    all.flatMap((bytes) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(bytes.length);
      return [length, bytes];
    }),
  );
}

function* unpack(packed: Uint8Array): Generator<Buffer> {
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.length);
  for (let at = 0; at < bytes.length; ) {
    const end = at + 4 + bytes.readUInt32BE(at);
    yield bytes.subarray(at + 4, end);
    at = end;
  }
}
