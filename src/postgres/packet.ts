/**
 * Sends two statements in one packet and one transaction: the first sets identity and role, the second answers. Between
 * them is no Sync, so that PostgreSQL ends the transaction, and with it identity and role, after the second. A failure of
 * the first skips the second.
 * The second is parsed under the caller's role and stays prepared on its connection.
 * https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-PIPELINING
 */
import pg from "pg";

/** A prepared statement. Its values travel as text. */
export interface Step {
  name: string;
  text: string;
  values: readonly string[];
}

/** What `pg` keeps of a connection; its types do not have it. */
interface Wire {
  stream: { cork(): void; uncork(): void };
  parsedStatements: Record<string, string | undefined>;
  parse(statement: { name: string; text: string }): void;
  bind(portal: { statement: string; values: readonly string[]; valueMapper(value: string): string }): void;
  execute(portal: object): void;
  close(statement: { type: "S"; name: string }): void;
  sync(): void;
}

/** Statements that a connection keeps prepared by this module. Each takes memory on the server, about 50 KiB. */
export const maxPrepared = 100;

/** By connection: the names of its statements, the least recently used first. */
const prepared = new WeakMap<Wire, Set<string>>();

type Callback = (error: Error | null, result: string | null) => void;

/**
 * A query of the driver, which pipelines only those of its own class. The driver notes the name of an active query as
 * parsed when PostgreSQL says so: `name` and `text` are those of the step that is under way.
 */
class Packet extends pg.Query {
  declare name: string;
  declare text: string;
  declare callback: Callback | undefined;
  readonly #enter: Step;
  readonly #answer: Step;
  #hasEntered = false;
  #result: string | null = null;

  constructor(enter: Step, answer: Step) {
    super({ name: answer.name, text: answer.text });
    this.#enter = enter;
    this.#answer = answer;
    this.submit = (connection) => this.#send(connection as unknown as Wire) as unknown as undefined;
  }

  /** @returns null: the driver expects an error or null */
  #send(wire: Wire): null {
    wire.stream.cork();
    try {
      this.#makeRoom(wire);
      for (const step of [this.#enter, this.#answer]) {
        if (wire.parsedStatements[step.name] === undefined) wire.parse(step);
        wire.bind({ statement: step.name, values: step.values, valueMapper: (value) => value });
        wire.execute({});
      }
      wire.sync();
    } finally {
      wire.stream.uncork();
    }
    this.#under(this.#enter);
    return null;
  }

  /** Closes the statement that was not used for the longest time. */
  #makeRoom(wire: Wire): void {
    const names = prepared.get(wire) ?? new Set();
    prepared.set(wire, names);
    names.delete(this.#answer.name);
    names.add(this.#answer.name);
    if (names.size <= maxPrepared) return;
    const [oldest = ""] = names;
    names.delete(oldest);
    if (wire.parsedStatements[oldest] === undefined) return;
    wire.close({ type: "S", name: oldest });
    delete wire.parsedStatements[oldest];
  }

  #under({ name, text }: Step): void {
    this.name = name;
    this.text = text;
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    if (this.#hasEntered) this.#result = fields[0] ?? null;
  }

  handleCommandComplete(): void {
    this.#hasEntered = true;
    this.#under(this.#answer);
  }

  handleError(error: Error): void {
    this.callback?.(error, null);
  }

  handleReadyForQuery(): void {
    this.callback?.(null, this.#result);
  }
}

/** @param client of a pipelined pool @returns the first column of the answer's row, as text */
export function sendPacket(client: pg.ClientBase, enter: Step, answer: Step): Promise<string | null> {
  const { promise, resolve, reject } = Promise.withResolvers<string | null>();
  const query = client.query as unknown as (packet: Packet, callback: Callback) => void;
  query.call(client, new Packet(enter, answer), (error, result) => (error ? reject(error) : resolve(result)));
  return promise;
}
