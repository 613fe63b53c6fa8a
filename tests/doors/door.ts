/**
 * A door is a way to read rows of a table: a member of the context over HTTP, a function that SQL of a request may call.
 * Whatever a door finds rows by, what it gives to a caller is what `select` gives under the caller's policies.
 */
import type pg from "pg";
import { expect } from "vitest";
import type { Database } from "../support/database.ts";
import type { User } from "../support/service.ts";

/** Who asks; `user` null: nobody is signed in. */
export interface Caller {
  name: string;
  user: User | null;
}

/** The rows that are asked for; `owner` null: those of all owners. */
export interface Scope {
  corpus: string;
  visibility: "private" | "shared" | "public";
  owner: string | null;
}

export interface Door {
  name: string;
  /** Functions of schema svc that it goes through, by name. */
  functions: string[];
  /** SQL that selects the rows it is to give, as `id`; $1 to $3 are the scope. */
  rows: string;
  /** Whether the caller may ask for the scope at all. (Default: yes) */
  serves?(caller: Caller, scope: Scope): boolean;
  /** @returns ids */
  read(caller: Caller, scope: Scope): Promise<string[]>;
}

/** Asks the database as a request does: through its login, in a transaction of the caller. */
export class RequestSql {
  readonly #db: Database;
  #client: pg.Client | undefined;

  constructor(db: Database) {
    this.#db = db;
  }

  /** What there is, whoever may read it. */
  all<Row extends pg.QueryResultRow>(text: string, values: unknown[]): Promise<Row[]> {
    return this.#db.sql<Row>(text, values);
  }

  async query<Row extends pg.QueryResultRow = pg.QueryResultRow>(
    { user }: Caller,
    text: string,
    values: unknown[] = [],
  ): Promise<Row[]> {
    this.#client ??= await this.#db.connect("request");
    await this.#client.query("begin");
    try {
      await this.#client.query("select set_config('svc.user_id', $1, true), set_config('role', $2, true)", [
        user?.id ?? "",
        user ? "svc_authenticated" : "svc_anonymous",
      ]);
      return (await this.#client.query<Row>(text, values)).rows;
    } finally {
      await this.#client.query("rollback");
    }
  }
}

/** The door gives what `select` gives. @returns how many rows that were */
export async function compare(sql: RequestSql, door: Door, caller: Caller, scope: Scope): Promise<number> {
  if (door.serves?.(caller, scope) === false) return 0;
  const { corpus, visibility, owner } = scope;
  const shown = await sql.query<{ id: string }>(caller, door.rows, [corpus, visibility, owner]);
  const given = await door.read(caller, scope);
  const about = `${door.name} for ${caller.name}, ${visibility} in ${corpus} of ${owner ?? "all"}`;
  expect([...new Set(given)].sort(), about).toEqual(shown.map(({ id }) => id).sort());
  return given.length;
}
