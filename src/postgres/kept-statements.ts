/**
 * Keeps the statements of handlers prepared. Without a name, PostgreSQL reads and plans a statement in each call, which
 * takes it longer than most of them run, and it describes the rows of each answer. A text gets a name when it comes for
 * the second time. PostgreSQL decides whether one plan is good for all values:
 * https://www.postgresql.org/docs/current/sql-prepare.html#SQL-PREPARE-NOTES
 * Called by `transaction.ts`, and by `packet.ts` for the statements of generated operations.
 */
import { createHash } from "node:crypto";
import pg from "pg";
import type { Identity } from "./identity.ts";

/** Statements that a connection keeps prepared. Each takes memory on the server, about 50 KiB. */
export const maxPrepared = 100;

/** Texts that the process remembers, and the longest one, in characters. */
const maxTexts = 1_000;
const longestText = 10_000;

/** What `pg` keeps of a connection; its types do not have it. */
interface Wire {
  parsedStatements: Record<string, string | undefined>;
  close(statement: { type: "S"; name: string }): void;
  describe(portal: unknown): void;
}

/** Of a connection. */
interface Kept {
  /**
   * Its statements by name, with the number of the packet that used them last. A set in the order of use would make
   * tables that V8 keeps: docs/adr/0004-calls-before-express.md.
   */
  used: Map<string, number>;
  /** By name: the columns of the answer, as PostgreSQL has described them. */
  columns: Map<string, unknown[]>;
  /** The connection, which does not ask for a description. */
  quiet: Wire;
}

const keptBy = new WeakMap<Wire, Kept>();
let packets = 0;

function keptOf(wire: Wire): Kept {
  const known = keptBy.get(wire);
  if (known) return known;
  const kept = { used: new Map(), columns: new Map(), quiet: Object.assign(Object.create(wire), { describe() {} }) };
  keptBy.set(wire, kept);
  return kept;
}

/** Notes that a statement is used. Closes the one that was not used for the longest time, if there are too many. */
export function makeRoom(client: pg.ClientBase, name: string): void {
  const wire = (client as unknown as { connection: Wire }).connection;
  const { used, columns } = keptOf(wire);
  used.set(name, ++packets);
  if (used.size <= maxPrepared) return;
  const [oldest] = [...used].reduce((one, other) => (one[1] < other[1] ? one : other));
  used.delete(oldest);
  columns.delete(oldest);
  if (wire.parsedStatements[oldest] === undefined) return;
  wire.close({ type: "S", name: oldest });
  delete wire.parsedStatements[oldest];
}

/** Names by text; "" of a text that came once. */
const names = new Map<string, string>();
let generation = 0;

/** Gives all texts new names, after a migration has changed what one of them answers with. */
export function renameStatements(): void {
  names.clear();
  generation++;
}

/** @param role plans are made for one role: a statement that two of them use in turn would be planned each time */
function nameOf(text: string, role: string): string | undefined {
  if (text.length > longestText) return undefined;
  let name = names.get(text);
  if (name === undefined) {
    if (names.size >= maxTexts) names.clear();
    names.set(text, "");
    return undefined;
  }
  if (!name) {
    name = `svc ${generation} ${createHash("sha256").update(text).digest("base64url").slice(0, 22)}`;
    names.set(text, name);
  }
  return `${name} ${role}`;
}

type Callback = (error: Error | null, result: pg.QueryResult) => void;

/** Members of the driver's query that its types do not have. */
interface DriverQuery {
  name: string | undefined;
  queryMode: string;
  types: pg.CustomTypesConfig | undefined;
  _result: unknown;
  _results: unknown;
  prepare(connection: Wire): void;
  handleRowDescription(message: { fields: unknown[] }): void;
  handleCommandComplete(message: unknown, connection: Wire): void;
}
const DriverQuery = pg.Query as unknown as new (text: string, values?: unknown[]) => DriverQuery;
const DriverResult = pg.Result as unknown as new (rowMode?: string, types?: pg.CustomTypesConfig) => object;

/** Asks for the description of its rows only once on each connection. */
class KeptQuery extends DriverQuery {
  #columns: unknown[] = [];

  /** The driver copies an object of settings by its property descriptors, which is 4 % of Node's time for a call. */
  constructor({ text, types, rowMode }: pg.QueryConfig & { rowMode?: string }, values?: unknown[], name?: string) {
    super(text, values);
    this.name = name;
    this.queryMode = "extended";
    this.types = types;
    this._result = new DriverResult(rowMode, types);
    this._results = this._result;
  }

  override prepare(connection: Wire): void {
    const { columns, quiet } = keptOf(connection);
    const known = this.name === undefined ? undefined : columns.get(this.name);
    if (known?.length) this.handleRowDescription({ fields: known });
    super.prepare(known ? quiet : connection);
  }

  override handleRowDescription(message: { fields: unknown[] }): void {
    this.#columns = message.fields;
    super.handleRowDescription(message);
  }

  override handleCommandComplete(message: unknown, connection: Wire): void {
    if (this.name !== undefined) keptOf(connection).columns.set(this.name, this.#columns);
    super.handleCommandComplete(message, connection);
  }
}

/**
 * Runs a statement by the extended protocol, which accepts a single one: interpolated text cannot add a second one.
 *
 * @param role that it runs as. Statements of the system are not kept: its pool is not pipelined
 */
export async function sendQuery(
  client: pg.ClientBase,
  config: pg.QueryConfig,
  values: unknown[] | undefined,
  role: Identity["role"],
): Promise<pg.QueryResult> {
  // `pg` would send text without parameters by the simple protocol. Its types lack the option.
  if (role === "svc_system") return client.query({ ...config, queryMode: "extended" } as pg.QueryConfig, values);
  const kept = config.name ? undefined : nameOf(config.text, role);
  if (kept) makeRoom(client, kept);
  const { promise, resolve, reject } = Promise.withResolvers<pg.QueryResult>();
  const query = client.query as unknown as (query: KeptQuery, callback: Callback) => void;
  const sent = new KeptQuery(config, values ?? config.values, kept ?? config.name);
  query.call(client, sent, (error, result) => (error ? reject(error) : resolve(result)));
  try {
    return await promise;
  } catch (error) {
    Error.captureStackTrace(Object(error)); // the lines that have called, as the driver's own promises do
    throw error;
  }
}
