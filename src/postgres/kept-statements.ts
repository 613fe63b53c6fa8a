/**
 * Keeps the statements of handlers prepared. Without a name, PostgreSQL reads and plans a statement in each call, which
 * takes it longer than most of them run, and it describes the rows of each answer. A text for which one plan fits all values
 * (`one-plan.ts`) gets a name when it comes for the second time. After five plans PostgreSQL keeps one:
 * https://www.postgresql.org/docs/current/sql-prepare.html#SQL-PREPARE-NOTES
 *
 * A prepared statement keeps the types of its parameters, also after a migration has changed a column: a number too large for the
 * old type is refused, and the time of day behind a date is cut off. So it is prepared again after a while, and at once after an
 * error that may come from this. Called by `transaction.ts`, and by `packet.ts` for the statements of generated operations.
 */

import pg from "pg";
import { onePer } from "../kit/one-per.ts";
import { isDirect } from "./direct.ts";
import { type Wire, wireOf } from "./driver.ts";
import { isPlanOutdated, isStatementGone, sqlState } from "./errors.ts";
import type { Identity } from "./identity.ts";

/** Statements that a connection keeps prepared. Each takes memory on the server, about 50 KiB. */
export const maxPrepared = 100;

/** In milliseconds: how long a statement of a handler stays prepared. */
const maxAge = 10_000;

/** Texts that the process remembers, and the longest one, in characters. */
const maxTexts = 1_000;
const longestText = 10_000;

interface Statement {
  /**
   * The number of the packet that used it last. A set in the order of use would make tables that V8 keeps:
   * docs/adr/0004-calls-before-express.md.
   */
  used: number;
  /** By `performance.now()`. */
  preparedAt: number;
  /** The columns of its answer, as PostgreSQL has described them; null without any, undefined before the first answer. */
  columns: unknown[] | null | undefined;
}

/** Of a connection. */
interface Kept {
  statements: Map<string, Statement>;
  /** The connection. It does not close a statement when a value cannot be sent: the driver would still take it for prepared. */
  lasting: Wire;
  /** The same, which does not ask for a description. */
  quiet: Wire;
}

let packets = 0;

const keptOf = onePer((wire: Wire): Kept => {
  const lasting: Wire = Object.assign(Object.create(wire), { close() {} });
  return { statements: new Map(), lasting, quiet: Object.assign(Object.create(lasting), { describe() {} }) };
});

/**
 * Notes that a statement is used. Closes those that were not used for the longest time, if there are too many.
 *
 * @param age in milliseconds: one that was prepared before is closed, too. (Default: any)
 */
export function makeRoom(client: pg.ClientBase, name: string, age = Number.POSITIVE_INFINITY): Statement {
  const wire = wireOf(client);
  const { statements } = keptOf(wire);
  const now = performance.now();
  const known = statements.get(name);
  if (known && now - known.preparedAt > age) close(wire, statements, name);
  const statement = statements.get(name) ?? { used: 0, preparedAt: now, columns: undefined };
  statements.set(name, statement);
  statement.used = ++packets;
  const surplus = statements.size - maxPrepared;
  if (surplus > 0) {
    const byUse = [...statements].sort(([, one], [, other]) => one.used - other.used);
    for (const [oldest] of byUse.slice(0, surplus)) close(wire, statements, oldest);
  }
  return statement;
}

/** Not while PostgreSQL is preparing it: the driver takes it for prepared afterwards. */
function close(wire: Wire, statements: Map<string, Statement>, name: string): void {
  if (wire.submittedNamedStatements[name] !== undefined) return;
  statements.delete(name);
  if (wire.parsedStatements[name] === undefined) return;
  wire.close({ type: "S", name });
  delete wire.parsedStatements[name];
}

/** Names by text; "" of a text that came once. */
const names = new Map<string, string>();
let named = 0;

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
    name = `svc ${++named}`;
    names.set(text, name);
  }
  return `${name} ${role}`;
}

const outdated = new WeakSet<object>();

/**
 * Whether a statement failed because it was prepared before a migration, or may have, or because it is not prepared any more: on
 * another connection, or without its name, it may succeed.
 */
export const mayBeOutdated = (error: unknown): boolean =>
  isPlanOutdated(error) || isStatementGone(error) || outdated.has(Object(error));

/**
 * Takes the name of a statement away if it failed as one does that does not fit its tables: such as by an unknown operator,
 * a type that is gone, or a value that does not fit the type.
 */
function noteFailure(error: unknown, text: string, isKept: boolean): void {
  const state = sqlState(error) ?? "";
  const isOfTypes = /^(22|42|XX)/.test(state) && state !== "42501"; // not a refusal
  if (isPlanOutdated(error)) names.clear();
  else if (isOfTypes) names.delete(text);
  else return;
  if (isKept) outdated.add(Object(error));
}

/** A statement of a transaction. */
export interface HandlerStatement extends pg.QueryConfig {
  /** Whether it may stay prepared, under a name that it gets. (Default: only under its own, if it has one) */
  isKept?: boolean;
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
  readonly #statement: Statement | undefined;
  #columns: unknown[] | null = null;

  /** The driver copies an object of settings by its property descriptors, which is 4 % of Node's time for a call. */
  constructor(
    { text, types, rowMode }: pg.QueryConfig & { rowMode?: string },
    values: unknown[] | undefined,
    name: string | undefined,
    statement: Statement | undefined,
  ) {
    super(text, values);
    this.name = name;
    this.queryMode = "extended";
    this.types = types;
    this._result = new DriverResult(rowMode, types);
    this._results = this._result;
    this.#statement = statement;
  }

  override prepare(connection: Wire): void {
    const { lasting, quiet } = keptOf(connection);
    const { columns } = this.#statement ?? {};
    if (columns) this.handleRowDescription({ fields: columns });
    super.prepare(columns === undefined ? lasting : quiet);
  }

  override handleRowDescription(message: { fields: unknown[] }): void {
    this.#columns = message.fields;
    super.handleRowDescription(message);
  }

  override handleCommandComplete(message: unknown, connection: Wire): void {
    if (this.#statement) this.#statement.columns = this.#columns;
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
  config: HandlerStatement,
  values: unknown[] | undefined,
  role: Identity["role"],
): Promise<pg.QueryResult> {
  // `pg` would send text without parameters by the simple protocol. Its types lack the option.
  if (role === "svc_system") return client.query({ ...config, queryMode: "extended" } as pg.QueryConfig, values);
  const name = config.name ?? (config.isKept && isDirect(client) ? nameOf(config.text, role) : undefined);
  const statement = name && isDirect(client) ? makeRoom(client, name, maxAge) : undefined;
  const { promise, resolve, reject } = Promise.withResolvers<pg.QueryResult>();
  const query = client.query as unknown as (query: KeptQuery, callback: Callback) => void;
  const sent = new KeptQuery(config, values ?? config.values, name, statement);
  query.call(client, sent, (error, result) => (error ? reject(error) : resolve(result)));
  try {
    return await promise;
  } catch (error) {
    noteFailure(error, config.text, statement !== undefined && config.name === undefined);
    Error.captureStackTrace(Object(error)); // the lines that have called, as the driver's own promises do
    throw error;
  }
}
