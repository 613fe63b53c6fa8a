/** The rows of bench/lists.ts. */
import type pg from "pg";

/** Rows of every owner in the tables of a given size. */
const ownedRows = 1000;

/**
 * Fills a table with rows of as many owners as have 1,000 each, the measured one among them. Owners take turns, so that
 * one's rows are scattered over the table like those of users who write at the same time; whatever the size, the
 * owner's rows read the same.
 */
export async function fill(admin: pg.Client, table: string, rows: number, owner: string): Promise<void> {
  await admin.query(`truncate ${table}`);
  await admin.query(
    `insert into ${table} (user_id, title, done, priority, created_at)
     select case n % $2 when 0 then $3 else 'user' || n % $2 end, 'Item number ' || n / $2, n / $2 % 3 = 0,
            n / $2 % 10, now() - n * interval '1 second'
       from generate_series(1, $1::int) as n`,
    [rows, rows / ownedRows, owner],
  );
  await admin.query(`vacuum analyze ${table}`);
}

/** Fills deep_items: a few owners with many rows, in no order, among a thousand with a hundred each. */
export async function fillDeep(admin: pg.Client, owners: { id: string; rows: number }[]): Promise<void> {
  await admin.query("truncate deep_items");
  await admin.query(
    `insert into deep_items (user_id, title, done, priority, created_at)
     select user_id, 'Item number ' || n, n % 3 = 0, n % 10, now() - n * interval '1 second'
       from (select 'user' || n % 1000 as user_id, n / 1000 as n from generate_series(1, 100000) as n
             union all
             select o.id, n from unnest($1::text[], $2::int[]) as o (id, rows), generate_series(1, o.rows) as n) as all_rows
      order by random()`,
    [owners.map(({ id }) => id), owners.map(({ rows }) => rows)],
  );
  await admin.query("vacuum analyze deep_items");
}

/** Adds rows that can be removed. @returns their ids */
export async function stock(admin: pg.Client, owner: string, rows: number): Promise<number[]> {
  const added = await admin.query<{ id: number }>(
    "insert into items (user_id, title) select $1, 'stock' from generate_series(1, $2::int) returning id",
    [owner, rows],
  );
  await admin.query("vacuum analyze items");
  return added.rows.map(({ id }) => id);
}
