/**
 * Sends prepared statements in one packet and one transaction, and reads the last row of each as texts. The driver's own
 * query also asks for a description of the row, which costs both sides more than a small row.
 *
 * Of several statements the first sets identity and role, and the second answers: it is parsed under the caller's role. Between
 * them is no Sync, so that PostgreSQL ends the transaction, and with it identity and role, after the last. A failure of one skips
 * those after it. https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-PIPELINING
 */
import { createHash } from "node:crypto";
import pg from "pg";
import { type Wire, wireOf } from "./driver.ts";
import { makeRoom } from "./kept-statements.ts";
import { isRowTooLarge } from "./row-size.ts";

/** A prepared statement. Its values travel as text. */
export interface Step {
  name: string;
  text: string;
  values: readonly (string | number | null)[];
}

const longestName = 63;

/** A name of a prepared statement: PostgreSQL cuts off what is longer, and two could become one. @param name of ASCII letters */
export function preparedName(name: string): string {
  if (name.length <= longestName) return name;
  const hash = createHash("sha256").update(name).digest("base64url").slice(0, 22);
  return `${name.slice(0, longestName - hash.length - 1)} ${hash}`;
}

/** The last row of a statement; null without one. */
export type TextRow = (string | null)[] | null;
type Callback = (error: Error | null, rows: TextRow[]) => void;

/** Errors that the packet of the row has got. */
const tooLarge = new WeakSet<Error>();
/** With the code of the kernel's own error, so that a read is repeated. */
const lost = () => Object.assign(new Error("The connection was lost by another read"), { code: "ECONNRESET" });

/**
 * Stands for a query of the driver, which notes the name of an active query as parsed when PostgreSQL says so: `name` and
 * `text` are those of the step that is under way.
 */
class Packet {
  name: string;
  text: string;
  callback: Callback | undefined;
  readonly #steps: readonly Step[];
  readonly #rows: TextRow[] = [];
  #row: TextRow = null;

  constructor(steps: readonly Step[], answer: Step) {
    // Until it is sent it has the answer's text, for traces.
    this.name = answer.name;
    this.text = answer.text;
    this.#steps = steps;
  }

  /** @returns null: the driver expects an error or null */
  submit(wire: Wire): null {
    const { stream, parsedStatements } = wire;
    if (stream.writable) {
      const isNew = ({ name }: Step) => parsedStatements[name] === undefined;
      stream.write(packetBytes(this.#steps, isNew, wire.freesNames === true));
    }
    this.#showStep();
    return null;
  }

  #showStep(): void {
    const step = this.#steps[this.#rows.length];
    if (!step) return;
    this.name = step.name;
    this.text = step.text;
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    this.#row = fields;
  }

  handleCommandComplete(): void {
    this.#rows.push(this.#row);
    this.#row = null;
    this.#showStep();
  }

  /** When a connection breaks, all packets under way get one error, and the one that PostgreSQL was answering gets it first. */
  handleError(error: Error): void {
    const isOfAnother = isRowTooLarge(error) && tooLarge.has(error);
    tooLarge.add(error);
    this.callback?.(isOfAnother ? lost() : error, []);
  }

  handleReadyForQuery(): void {
    this.callback?.(null, this.#rows);
  }
}

// The driver pipelines only queries of its own class. Its constructor makes much that is not needed here.
Object.setPrototypeOf(Packet.prototype, pg.Query.prototype);

/** Whether the connection has the statement: then packets that run it may be under way together. */
export const isPrepared = (client: pg.ClientBase, name: string): boolean =>
  wireOf(client).parsedStatements[name] !== undefined;

/** @param client of a pipelined pool @returns the first column of the statement's row, as text; null without a row */
export async function sendStatement(client: pg.ClientBase, statement: Step): Promise<string | null> {
  const [row] = await send(client, [statement], statement);
  return row?.[0] ?? null;
}

/**
 * @param client of a pipelined pool, with no other packet under way that prepares the same statement
 * @param enter  sets the identity and the role of `answer`
 * @param after  statements behind it. (Default: none)
 * @returns the row of `answer`, and those of `after`
 */
export async function sendPacket(
  client: pg.ClientBase,
  enter: Step,
  answer: Step,
  after: readonly Step[] = [],
): Promise<TextRow[]> {
  makeRoom(client, answer.name);
  const [, ...rows] = await send(client, [enter, answer, ...after], answer);
  return rows;
}

/**
 * @param client of a pipelined pool
 * @param failed gets the error at once, before the answer to a statement that was sent behind it
 * @returns the row of the last statement
 */
export async function sendSteps(
  client: pg.ClientBase,
  steps: readonly [Step, ...Step[]],
  failed: (error: Error) => void,
): Promise<TextRow> {
  const rows = await send(client, steps, steps.at(-1) ?? steps[0], failed);
  return rows.at(-1) ?? null;
}

function send(
  client: pg.ClientBase,
  steps: readonly Step[],
  answer: Step,
  failed?: (error: Error) => void,
): Promise<TextRow[]> {
  const { promise, resolve, reject } = Promise.withResolvers<TextRow[]>();
  const query = client.query as unknown as (packet: Packet, callback: Callback) => void;
  query.call(client, new Packet(steps, answer), (error, rows) => {
    if (!error) return resolve(rows);
    failed?.(error);
    reject(error);
  });
  return promise;
}

const codes = { close: 0x43, parse: 0x50, bind: 0x42, execute: 0x45, sync: 0x53 };

/**
 * One buffer, because a write of several costs Node more than copying them.
 * https://www.postgresql.org/docs/current/protocol-message-formats.html
 *
 * @param isNew whether PostgreSQL must read the step's text first
 * @param frees whether its name must be freed before
 * @returns Close and Parse where they are needed, Bind and Execute of each step, and Sync
 */
function packetBytes(steps: readonly Step[], isNew: (step: Step) => boolean, frees: boolean): Buffer {
  const parsed = steps.map(isNew);
  let size = 5;
  for (const [index, { name, text, values }] of steps.entries()) {
    const named = Buffer.byteLength(name);
    if (parsed[index]) size += 9 + named + Buffer.byteLength(text) + (frees ? 7 + named : 0);
    size += 23 + named + 4 * values.length;
    for (const value of values) if (value !== null) size += Buffer.byteLength(String(value));
  }
  const bytes = Buffer.allocUnsafe(size);
  let at = 0;
  const text = (value: string) => {
    at += bytes.write(value, at);
    bytes[at++] = 0;
  };
  /** A message without its content. @returns where its length is */
  const begin = (code: number) => {
    bytes[at] = code;
    at += 5;
    return at - 4;
  };
  const end = (start: number) => bytes.writeInt32BE(at - start, start);

  for (const [index, step] of steps.entries()) {
    if (parsed[index]) {
      if (frees) {
        const close = begin(codes.close);
        bytes[at++] = 0x53; // a statement
        text(step.name);
        end(close);
      }
      const parse = begin(codes.parse);
      text(step.name);
      text(step.text);
      at = bytes.writeInt16BE(0, at); // PostgreSQL infers the types of parameters
      end(parse);
    }
    const bind = begin(codes.bind);
    text(""); // the portal without a name
    text(step.name);
    at = bytes.writeInt16BE(0, at); // parameters are text
    at = bytes.writeInt16BE(step.values.length, at);
    for (const value of step.values) {
      const length = value === null ? -1 : bytes.write(String(value), at + 4);
      at = bytes.writeInt32BE(length, at) + Math.max(length, 0);
    }
    at = bytes.writeInt16BE(0, at); // so is the answer
    end(bind);
    const execute = begin(codes.execute);
    text("");
    at = bytes.writeInt32BE(0, at); // all rows
    end(execute);
  }
  end(begin(codes.sync));
  return bytes;
}
