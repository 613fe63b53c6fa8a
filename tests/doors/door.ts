/**
 * A door is a way to read or change rows of a table: a member of the context over HTTP, a GraphQL query, or a function
 * that SQL of a request may call. However a door finds rows, it must return the rows that `select` returns under the
 * caller's policies.
 */
import type pg from "pg";
import { expect } from "vitest";
import type { Database } from "../support/database.ts";
import type { Answer, User } from "../support/service.ts";
import { plantings } from "./situations.ts";

/** A caller; `user` null: anonymous. */
export interface Caller {
  name: string;
  user: User | null;
  /** Of the API key with which it calls. (Default: it calls with a session) */
  scopes?: string;
}
export const nobody: Caller = { name: "nobody", user: null };

/** The requested rows; `owner` null: of all owners. */
export interface Scope {
  corpus: string;
  visibility: "private" | "shared" | "public";
  owner: string | null;
}

export interface Door {
  name: string;
  /** Names of functions in schema svc that it calls. (Default: none) */
  functions?: string[];
  /** SQL that selects the ids of the expected rows; $1 to $3 are the scope. Without them the door has no scope. */
  rows: string;
  /** SQL that the administrator runs before `rows`, rolled back afterwards. */
  before?: string;
  /** The caller whose policies apply. (Default: the caller) */
  as?(caller: Caller): Caller;
  /** (Default: no) */
  isClosedToKeys?: boolean;
  /** Whether the caller may request the scope. (Default: yes) */
  serves?(caller: Caller, scope: Scope): boolean;
  /** @returns ids */
  read(caller: Caller, scope: Scope): Promise<string[]>;
}

/** A door that changes rows, each by its id. */
export interface WritingDoor {
  name: string;
  functions?: string[];
  /** The changed table. */
  table: string;
  /** SQL that selects the ids of rows that the caller may change in this way. It is rolled back. */
  may: string;
  /** @returns whether the change was accepted */
  write(caller: Caller, id: string): Promise<boolean>;
}

export const isSignedIn = ({ user }: Caller) => user !== null;
/** A refusal returns no row. @throws for an answer that is neither a success nor a refusal */
export function isGiven({ status, body }: Answer): boolean {
  if (status !== 200 && ![401, 403, 404].includes(status)) throw new Error(`${status}: ${JSON.stringify(body)}`);
  return status === 200;
}

/** Queries the database as a request does: through its login, in a transaction of the caller that is rolled back. */
export class RequestSql {
  readonly #db: Database;
  readonly #clients = new Map<"request" | "admin", Promise<pg.Client>>();

  constructor(db: Database) {
    this.#db = db;
  }

  /** All rows, regardless of policies. */
  all<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    return this.#db.sql<Row>(text, values);
  }

  query<Row extends pg.QueryResultRow = pg.QueryResultRow>(
    caller: Caller,
    text: string,
    values: unknown[] = [],
  ): Promise<Row[]> {
    return this.#run("request", [identity(caller), role(caller)], text, values);
  }

  /** As the requests' login with the caller's identity, as between two statements of a request. */
  asLogin<Row extends pg.QueryResultRow>(caller: Caller, text: string, values: unknown[]): Promise<Row[]> {
    return this.#run("request", [identity(caller)], text, values);
  }

  /** Rows under the caller's policies; none without a privilege. @param before SQL of the administrator */
  async shown(caller: Caller, text: string, values: unknown[] = [], before?: string): Promise<string[]> {
    const settings = [...(before === undefined ? [] : [before]), identity(caller), role(caller)];
    const rows = this.#run<{ id: string }>(before === undefined ? "request" : "admin", settings, text, values);
    return (await rows.catch(refusedAs([]))).map(({ id }) => id).sort();
  }

  async #run<Row extends pg.QueryResultRow>(
    login: "request" | "admin",
    settings: string[],
    text: string,
    values: unknown[],
  ): Promise<Row[]> {
    const opened = this.#clients.get(login) ?? this.#db.connect(login);
    this.#clients.set(login, opened);
    const client = await opened;
    try {
      await client.query(["begin", ...settings].join(";"));
      return (await client.query<Row>(text, values)).rows;
    } finally {
      await client.query("rollback");
    }
  }
}

const identity = ({ user, scopes }: Caller) =>
  `select set_config('svc.user_id', '${user?.id ?? ""}${scopes === undefined ? "" : `\tkey\t${scopes}`}', true)`;
const role = ({ user }: Caller) => `select set_config('role', '${user ? "svc_authenticated" : "svc_anonymous"}', true)`;

/** For `catch`: the result for a caller without the privilege. @throws every other error */
export const refusedAs =
  <T>(value: T) =>
  (error: unknown): T => {
    if (!["42501", "SV404"].includes((error as { code: string }).code)) throw error;
    return value;
  };

const hasScope = ({ rows }: Door) => rows.includes("$1");

/** The scopes to request from a door; a door without a scope is opened once. */
export const scopesOf = (door: Door, scopes: Scope[]): Scope[] => (hasScope(door) ? scopes : scopes.slice(0, 1));

const known = new WeakMap<RequestSql, Map<string, Promise<string[]>>>();
/** Many doors lead to the same rows: they are selected once under the same policies. */
function shownOnce(sql: RequestSql, caller: Caller, ...select: [string, unknown[], string | undefined]) {
  const results = known.get(sql) ?? new Map<string, Promise<string[]>>();
  known.set(sql, results);
  const key = JSON.stringify([plantings(), caller.name, ...select]);
  const shown = results.get(key) ?? sql.shown(caller, ...select);
  results.set(key, shown);
  return shown;
}

/** Expects the door to return the rows of `select`. @returns their number */
export async function compare(sql: RequestSql, door: Door, caller: Caller, scope: Scope): Promise<number> {
  if (door.serves?.(caller, scope) === false || (door.isClosedToKeys && caller.scopes !== undefined)) return 0;
  const { corpus, visibility, owner } = scope;
  const values = hasScope(door) ? [corpus, visibility, owner] : [];
  const shown = await shownOnce(sql, door.as?.(caller) ?? caller, door.rows, values, door.before);
  const given = await door.read(caller, scope);
  const about = `${door.name} for ${caller.name}, ${visibility} in ${corpus} of ${owner ?? "all"}`;
  expect([...new Set(given)].sort(), about).toEqual(shown);
  return given.length;
}

/**
 * Expects the door to change the rows that the caller may change, and no others.
 *
 * @param ids of the rows to try
 * @returns how many of them it changed
 */
export async function compareWrites(
  sql: RequestSql,
  door: WritingDoor,
  caller: Caller,
  ids: readonly string[],
): Promise<number> {
  const may = (await sql.shown(caller, door.may)).filter((id) => ids.includes(id));
  const others = () => sql.all(`select t::text from ${door.table} as t where id::text <> all ($1) order by id`, [may]);
  const before = await others();
  const accepted: string[] = [];
  for (const id of ids) if (await door.write(caller, id)) accepted.push(id);
  const about = `${door.name} for ${caller.name}`;
  expect(accepted.sort(), about).toEqual(may);
  expect(await others(), about).toEqual(before);
  return accepted.length;
}
