/**
 * Sends prepared statements in one packet and one transaction, and reads the last row of each as texts. The driver's own
 * query also asks for a description of the row, which costs both sides more than a small row.
 *
 * Of several statements the first sets identity and role, and the second answers: it is parsed under the caller's role.
 * Between them is no Sync, so that PostgreSQL ends the transaction, and with it identity and role, after the last. A
 * failure of one skips those after it.
 * https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-PIPELINING
 */
import pg from "pg";
import { packetBytes, type Step } from "./packet-bytes.ts";

/** What `pg` keeps of a connection; its types do not have it. */
interface Wire {
  stream: { write(bytes: Buffer): void; writable: boolean };
  parsedStatements: Record<string, string | undefined>;
  close(statement: { type: "S"; name: string }): void;
}

/** Second statements that a connection keeps prepared. Each takes memory on the server, about 50 KiB. */
export const maxPrepared = 100;

/** By connection: the names of its statements, the least recently used first. */
const prepared = new WeakMap<Wire, Set<string>>();

/** The last row of a statement; null without one. */
export type TextRow = (string | null)[] | null;
type Callback = (error: Error | null, rows: TextRow[]) => void;

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
  submit({ stream, parsedStatements }: Wire): null {
    if (stream.writable) {
      stream.write(packetBytes(this.#steps, ({ name }) => parsedStatements[name] === undefined));
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

  handleError(error: Error): void {
    this.callback?.(error, []);
  }

  handleReadyForQuery(): void {
    this.callback?.(null, this.#rows);
  }
}

// The driver pipelines only queries of its own class. Its constructor makes much that is not needed here.
Object.setPrototypeOf(Packet.prototype, pg.Query.prototype);

const wireOf = (client: pg.ClientBase) => (client as unknown as { connection: Wire }).connection;

/** Whether the connection has the statement: then packets that run it may be under way together. */
export const isPrepared = (client: pg.ClientBase, name: string): boolean =>
  wireOf(client).parsedStatements[name] !== undefined;

/** Closes the statement that was not used for the longest time. */
function makeRoom(client: pg.ClientBase, { name }: Step): void {
  const wire = wireOf(client);
  const names = prepared.get(wire) ?? new Set();
  prepared.set(wire, names);
  names.delete(name);
  names.add(name);
  if (names.size <= maxPrepared) return;
  const [oldest = ""] = names;
  names.delete(oldest);
  if (wire.parsedStatements[oldest] === undefined) return;
  wire.close({ type: "S", name: oldest });
  delete wire.parsedStatements[oldest];
}

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
  makeRoom(client, answer);
  const [, ...rows] = await send(client, [enter, answer, ...after], answer);
  return rows;
}

function send(client: pg.ClientBase, steps: readonly Step[], answer: Step): Promise<TextRow[]> {
  const { promise, resolve, reject } = Promise.withResolvers<TextRow[]>();
  const query = client.query as unknown as (packet: Packet, callback: Callback) => void;
  query.call(client, new Packet(steps, answer), (error, rows) => (error ? reject(error) : resolve(rows)));
  return promise;
}
