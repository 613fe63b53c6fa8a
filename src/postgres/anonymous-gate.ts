/**
 * Closes `unsafeDb` and raw SQL to the calls of anonymous handlers, whatever file the code that runs is in. Which call a
 * statement belongs to is known wherever it is sent from, so a handle that another call kept opens nothing.
 * Next hop: `src/audit/gate.ts` reads the allow comment that opens it.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { sql } from "drizzle-orm";
import type pg from "pg";

/** The gate of one anonymous call. */
export interface AnonymousGate {
  /** Whether an allow comment has opened it to `unsafeDb`. */
  readonly isOpen: boolean;
  /** @throws SvcError ANONYMOUS_BLOCKED unless an allow comment covers the definition, or a line that led here */
  open(what: string): void;
  /** @throws SvcError ANONYMOUS_BLOCKED */
  refuseTable(): never;
}

const gates = new AsyncLocalStorage<AnonymousGate | undefined>();

/** Runs application code behind a gate, or outside of the gate of another call. */
export const withGate = <T>(gate: AnonymousGate | undefined, work: () => T): T =>
  gate || gates.getStore() ? gates.run(gate, work) : work();

/** @throws SvcError ANONYMOUS_BLOCKED for a statement of an anonymous call that names a table of the platform */
export function checkTables(text: string | undefined): void {
  const gate = gates.getStore();
  if (gate && /(?<![\w'])"?_(system|gencow)_/i.test(text ?? "")) gate.refuseTable();
}

/** Also behind comments. PostgreSQL refuses set_config() to svc_system (sql/grants.sql). */
const setsSession = /^(?:\s|--.*\n|\/\*[\s\S]*?\*\/)*set\b(?!\s+(?:local|transaction|constraints)\b)/i;
const staysSet =
  "unsafeDb: SET would stay on its connection, which other calls use afterwards. Use SET LOCAL in " +
  "unsafeDb.transaction(async (db) => …).";

/** The system pool as `unsafeDb` uses it: each statement asks whether the call that sends it may. */
export function gatedPool(pool: pg.Pool): pg.Pool {
  const check = (query?: unknown): void => {
    const text = typeof query === "string" ? query : (query as pg.QueryConfig | undefined)?.text;
    if (setsSession.test(text ?? "")) throw new Error(staysSet);
    const gate = gates.getStore();
    if (!gate) return;
    if (!gate.isOpen) gate.open(unsafeDb);
    checkTables(text);
  };
  const gated = <T extends pg.Pool | pg.PoolClient>(client: T): T =>
    new Proxy(client, {
      get(target, name) {
        const value = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => {
          if (name === "query" || name === "connect") check(args[0]);
          const result = value.apply(target, args);
          return name === "connect" ? Promise.resolve(result).then((made) => gated(made as pg.PoolClient)) : result;
        };
      },
    });
  return gated(pool);
}

export const unsafeDb = "unsafeDb, which reads and writes past every policy";

// Drizzle's own statements hold such texts, and names that it has quoted.
const ofDrizzle =
  /^( from |, | where |values |\*|(left|right|inner|full|cross)|(no key )?update|(key )?share|(union|intersect|except) (all )?|"[^"]+"(,"[^"]+")*)$/;

/** `sql.raw` for the platform's own texts, in whatever call they are made. */
export const { raw: platformSql } = sql;
/** `sql.raw` makes SQL of any text, so of one that a stranger sent. Fragments of `sql` hold their values apart. */
sql.raw = (text) => {
  const gate = gates.getStore();
  if (gate && !ofDrizzle.test(text)) gate.open('raw SQL (sql.raw of "drizzle-orm")');
  return platformSql(text);
};
