/**
 * Calls a list or get by the statement of its shape: one packet sets the identity, changes to the request role and runs
 * the statement, which stays prepared on the connection. PostgreSQL writes its text once for each shape.
 * Next hop: `sql/crud/list_statement.sql`, `sql/crud/get_statement.sql`.
 */
import { createHash } from "node:crypto";
import type pg from "pg";
import type { ReadShape } from "../contract/crud.ts";
import { onePer } from "../kit/one-per.ts";
import { RecentMap } from "../kit/recent-map.ts";
import { SvcError } from "../kit/svc-error.ts";
import { databaseError, isConnectionLoss, isOutdated, isStatementGone, isTransient } from "../postgres/errors.ts";
import type { Identity } from "../postgres/identity.ts";
import { type Step, sendPacket } from "../postgres/packet.ts";
import { isRowTooLarge } from "../postgres/row-size.ts";
import { runPacket } from "../postgres/shared-reads.ts";
import { isPlanKept } from "./kept-plans.ts";
import { callAs, explained } from "./statement.ts";

/** Shapes that are kept for a pool, of all resources. */
const maxShapes = 1_000;

type Statement = Pick<Step, "name" | "text">;

/**
 * By role and shape; null for a shape that svc.find_rows() answers. For each pool: a process may serve several applications,
 * as tests do.
 */
const statementsOf = onePer((_: pg.Pool) => new RecentMap<string, Promise<Statement | null>>(maxShapes));

/** The statement that enters. Names are looked up, and pages priced, as in svc.find_rows(). */
const entering = (plans: string): string =>
  "select set_config('svc.user_id', $1, true), set_config('timezone', 'UTC', true), " +
  "set_config('seq_page_cost', '0.02', true), set_config('random_page_cost', '0.08', true), " +
  "set_config('search_path', 'pg_catalog, public, extensions, pg_temp', true), " +
  `set_config('plan_cache_mode', '${plans}', true), set_config('role', $2, true)`;

/**
 * The values of filters decide about a plan: for a value that most rows have, PostgreSQL reads the rows in their order;
 * for a rare one it uses the column's index. So the answer is planned for its values, or its plan is kept: kept-plans.ts.
 */
export const enterPlanning: Statement = { name: "svc_enter_planning", text: entering("force_custom_plan") };
export const enterKept: Statement = { name: "svc_enter_kept", text: entering("force_generic_plan") };

/**
 * Behind a watched read: back to the login's own role, which alone may ask what was read. `set local role none` does the
 * same, and writes a warning into the server's log: there is no BEGIN.
 */
export const seeing: readonly Step[] = [
  { name: "svc_leave_list", text: "reset role", values: [] },
  { name: "svc_list_read", text: "select array_to_json((svc.tables_read()).tables)::text", values: [] },
];

/**
 * @param otherwise calls the generated function: for shapes without a statement, and after an error that repeating may cure
 * @param watched   as in `callStatement`
 * @returns the answer as JSON text; null for a get without a row
 * @throws SvcError through the SQLSTATE map
 */
export async function callPrepared(
  pool: pg.Pool,
  identity: Identity,
  read: ReadShape,
  otherwise: () => Promise<string | null>,
  watched?: (snapshot: string | null, tables: string[]) => void,
): Promise<string | null> {
  const statement = await statementOf(pool, identity, read);
  if (!statement) return otherwise();
  const enter = { ...(isPlanKept(pool, read) ? enterKept : enterPlanning), values: [identity.setting, identity.role] };
  const answer = { ...(watched ? withSnapshot(statement) : statement), values: read.values };
  const names = watched ? [] : [enter.name, answer.name];
  try {
    const send = (client: pg.ClientBase) => sendPacket(client, enter, answer, watched && seeing);
    const [row, , tables] = await runPacket(pool, identity, names, send, isBreaking);
    watched?.(row?.[1] ?? null, JSON.parse(tables?.[0] ?? "[]"));
    return row?.[0] ?? null;
  } catch (error) {
    if (error instanceof SvcError) throw error;
    if (isStale(error)) statementsOf(pool).delete(keyOf(identity, read));
    if (!isRowTooLarge(error) && (isBreaking(error) || isTransient(error))) return otherwise();
    throw explained(databaseError(error, identity), true);
  }
}

const withSnapshot = ({ name, text }: Statement): Statement => ({
  name: `${name}+s`,
  text: `select answer.result, pg_current_snapshot()::text from (${text}) as answer`,
});

/** A migration changed the table or a function, or the connection's prepared statements are gone. */
const isStale = (error: unknown) => isOutdated(error) || isStatementGone(error);
const isBreaking = (error: unknown) => isStale(error) || isConnectionLoss(error);

const keyOf = ({ role }: Identity, { key }: ReadShape) => `${role} ${key}`;

function statementOf(pool: pg.Pool, identity: Identity, read: ReadShape): Promise<Statement | null> {
  const key = keyOf(identity, read);
  const statements = statementsOf(pool);
  const known = statements.get(key);
  if (known) return known;
  const written = writeStatement(pool, identity, read);
  statements.set(key, written);
  return written;
}

/** A statement of its own for each role: PostgreSQL rewrites a prepared statement when its policies change with the role. */
function writeStatement(pool: pg.Pool, identity: Identity, read: ReadShape): Promise<Statement | null> {
  const call = `svc.${read.writer}(${read.resource}() || $3::jsonb)`;
  const parameters = [JSON.stringify({ shape: read.shape })];
  const name = read.resource.replace("svc_crud.", `${read.writer.replace("_statement", "")} `);
  const written = callAs(pool, identity, call, parameters, name).then((text) => {
    if (text === null) return null;
    const hash = createHash("sha256").update(`${identity.role} ${text}`).digest("base64url").slice(0, 22);
    return { name: `svc_read_${hash}`, text };
  });
  // The call itself says what is wrong.
  written.catch(() => statementsOf(pool).delete(keyOf(identity, read)));
  return written.catch(() => null);
}
