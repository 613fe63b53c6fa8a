/**
 * `svc rls explain TABLE --as USER [--scopes LIST] [--row ID]`: which policies show or hide a row for a user, and why. The user cannot
 * query a hidden row. So the row is read as the system, and each policy's expression is evaluated on that copy as the
 * user.
 * Next hop: `src/postgres/row-access.ts`; `sql/catalog/list_access_rules.sql`.
 */
import pg from "pg";
import { DefinitionError } from "../../kit/definition-error.ts";
import type { Access } from "../../postgres/access-rules.ts";
import { type Identity, identityOfUser } from "../../postgres/identity.ts";
import { type AsCaller, type Verdict, verdict } from "../../postgres/row-access.ts";
import { databaseCommand } from "../command.ts";
import { commandPool, findUser, requireMigrated } from "../inspect.ts";
import { text, word } from "../options.ts";
import { print } from "../output.ts";
import { listAccess } from "../policies.ts";
import { paint } from "../table.ts";

export const command = databaseCommand("serving", {
  args: {
    table: word("Its name as in SQL."),
    as: text("Id or e-mail address of a user. (Default: not signed in)"),
    scopes: text("Scopes of an API key by which the user calls, separated by commas. (Default: no key)", {
      mayBeEmpty: true,
    }),
    row: text("The row's primary key. (Default: counts the visible rows)", { mayBeEmpty: true }),
  },
  run: async ({ urls }, args) => {
    const system = commandPool(urls.system, "svc rls explain");
    const request = commandPool(urls.request, "svc rls explain");
    try {
      const userId = args.as === undefined ? null : await findUser(system, args.as);
      const scopes = scopesOf(args.scopes, userId);
      const identity = identityOfUser(userId, undefined, scopes);
      if (userId === null) await requireMigrated(system);
      const access = (await listAccess(system, args.table)).filter((one) => one.role === identity.role);
      const [first] = access;
      if (!first) return;
      const key = scopes ? `a key with ${scopes.join(", ") || "no scope"} of ` : "";
      const who = userId === null ? "somebody without an account" : `${key}user ${userId}`;
      const asCaller: AsCaller = (text, values) => ask(request, identity, text, values);
      const about = { table: first.name, as: userId, scopes };
      if (args.row === undefined) {
        const counts = await countRows(system, asCaller, first);
        return print({ ...about, ...counts }, () => describeCounts(first, counts, who));
      }
      const row = await readRow(system, first, args.row);
      const commands: Verdict[] = [];
      for (const one of access) commands.push(await verdict(one, row, asCaller));
      const value = { ...about, row: args.row, commands };
      print(value, () => `${first.name} ${args.row} for ${who}:\n${commands.map(describe).join("")}`);
    } finally {
      await Promise.all([system.end(), request.end()]);
    }
  },
});

/** @throws DefinitionError for a key without a user */
function scopesOf(list: string | undefined, userId: string | null): string[] | undefined {
  if (list === undefined) return undefined;
  if (userId === null) throw new DefinitionError("--scopes is for the API key of a user: name the user with --as.");
  return list.split(/[\s,]+/).filter((scope) => scope !== "");
}

/** Runs one statement in a transaction that is rolled back, with the identity of a request. */
async function ask(pool: pg.Pool, { role, setting }: Identity, text: string, values: unknown[]) {
  const client = await pool.connect();
  try {
    await client.query("begin read only");
    await client.query("select set_config('svc.user_id', $1, true), set_config('role', $2, true)", [setting, role]);
    const { rows } = await client.query(text, values);
    return rows[0] ?? {};
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    const hint = error.code === "42P17" ? "svc db lint names the policies: recursive_policy." : (error.hint ?? "");
    throw new DefinitionError(`PostgreSQL refuses the query to this caller: ${error.message}.`, { hint });
  } finally {
    await client.query("rollback");
    client.release();
  }
}

interface Counts {
  /** null without a grant to select. */
  seen: number | null;
  rows: number;
}

async function countRows(system: pg.Pool, asCaller: AsCaller, { name, granted }: Access): Promise<Counts> {
  const text = `select count(*)::integer as count from ${name}`;
  const rows = (await system.query(text)).rows[0].count;
  return { seen: granted === null ? null : Number((await asCaller(text, [])).count), rows };
}

const describeCounts = ({ name, kind }: Access, { seen, rows }: Counts, who: string) =>
  seen === null
    ? `${who} has no grant to select from ${name}, which has ${rows} rows.\n`
    : `${name}: ${who} sees ${seen} of ${rows} rows.${kind === "table" ? " Pass --row ID to see why." : ""}\n`;

/** The row as the text of its row type. @throws DefinitionError when it does not exist, or the table has a composite key */
async function readRow(pool: pg.Pool, { name, relation, beneath }: Access, id: string): Promise<string> {
  if (beneath) {
    throw new DefinitionError(`${name} is a view: it has no policies of its own.`, {
      hint: `Ask about the tables beneath it: ${beneath.join(", ")}.`,
    });
  }
  // The key of a partitioned table has the columns of its partitions beside the id.
  const key = await pool.query(
    `select quote_ident(a.attname) as column from pg_index i
       join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey)
       left join pg_partitioned_table p on p.partrelid = i.indrelid
      where i.indrelid = $1 and i.indisprimary and (i.indnatts = 1 or a.attnum <> all (coalesce(p.partattrs, '')))`,
    [relation],
  );
  if (key.rows.length !== 1) throw new DefinitionError(`${name} has no primary key of one column.`);
  const { rows } = await pool.query(
    `select row(t.*)::text as row from ${name} t where t.${key.rows[0].column}::text = $1 limit 2`,
    [id],
  );
  if (!rows[0]) throw new DefinitionError(`${name} has no row ${id} at all.`);
  if (rows[1]) throw new DefinitionError(`${name} has several rows ${id}.`);
  return rows[0].row;
}

function describe({ command, admitted, reason, policies }: Verdict): string {
  const outcome = admitted ? paint("admitted", 32) : paint("hidden", 31);
  const lines = policies.map(({ name, admits, condition }) => `    ${admits ? "yes" : "no "}  ${name}: ${condition}\n`);
  return `  ${command.padEnd(6)}  ${outcome}${reason ? `: ${reason}` : ""}\n${lines.join("")}`;
}
