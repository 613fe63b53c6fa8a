/**
 * The table for the filter tests: a column of every kind, few rows, with extremes and nulls. Statements run as
 * svc_authenticated, which may only read the allowed columns.
 */
import { beforeAll } from "vitest";
import type { Database } from "../support/database.ts";

export interface FilterColumn {
  name: string;
  type: string;
  kind: string;
  array: boolean;
  values: string[] | null;
}

const column = (name: string, type: string, kind: string, values: string[] | null = null): FilterColumn => ({
  name,
  type,
  kind,
  array: type.endsWith("]"),
  values,
});

/** The allow-list, as the code generator writes it: properties of the table object, with their columns. */
export const columns: Record<string, FilterColumn> = {
  title: column("title", "text", "text"),
  short: column("short", "varchar(5)", "text"),
  code: column("code", "char(4)", "text"),
  host: column("host", "inet", "text"),
  done: column("done", "boolean", "boolean"),
  count: column("count", "integer", "integer"),
  small: column("small", "smallint", "integer"),
  big: column("big", "bigint", "bigint"),
  ratio: column("ratio", "double precision", "number"),
  half: column("half", "real", "number"),
  price: column("price", "numeric(20,4)", "numeric"),
  ref: column("ref", "uuid", "uuid"),
  mood: column("mood", 'public."filter mood"', "enum", ["calm", "it's complicated"]),
  level: column("level", "varchar(4)", "enum", ["low", "high"]),
  at: column("at", "timestamp(3) with time zone", "timestamp"),
  local: column("local", "timestamp", "timestamp"),
  day: column("day", "date", "date"),
  meta: column("meta", "jsonb", "json"),
  notes: column("notes", "json", "json"),
  tags: column("tags", "text[]", "text"),
  counts: column("counts", "bigint[]", "bigint"),
  times: column("times", "timestamp with time zone[]", "timestamp"),
  'odd "name"; --': column('we"ird; -- column', "text", "text"),
};

export type Row = { id: number } & Record<string, unknown>;

/** Keyed by property, in wire form. A missing property is null; row 9 has only nulls. */
export const rows: Row[] = [
  {
    id: 1,
    title: "alpha",
    short: "alpha",
    code: "ab",
    host: "10.0.0.1",
    done: true,
    count: 1,
    small: 1,
    big: "9007199254740993",
    ratio: 0.1,
    half: 0.1,
    price: "1.5000",
    ref: "0a0b0c0d-1111-4222-8333-444455556666",
    mood: "calm",
    level: "low",
    at: "2026-01-01T00:00:00Z",
    local: "2026-01-01T00:00:00Z",
    day: "2026-01-01",
    meta: { a: 1, b: [true, null] },
    notes: { a: 1 },
    tags: ["x", "y"],
    counts: ["1", null],
    times: ["2026-01-01T00:00:00Z"],
    'odd "name"; --': "odd",
  },
  {
    id: 2,
    title: "Alpha",
    short: "Alpha",
    code: "AB",
    host: "10.0.0.0/8",
    done: false,
    count: 2,
    small: -32768,
    big: "-9223372036854775808",
    ratio: -1e300,
    half: 3.4028234663852886e38,
    price: "1.5001",
    ref: "ffffffff-ffff-ffff-ffff-ffffffffffff",
    mood: "it's complicated",
    level: "high",
    at: "2026-01-01T12:34:56.789Z",
    local: "2026-01-01T12:34:56.789Z",
    day: "2026-01-02",
    meta: [1, 2.5, "x"],
    notes: { b: 1, a: 1 },
    tags: [],
    counts: ["9223372036854775807", "-1"],
    times: [],
    'odd "name"; --': "'; drop table filtered; --",
  },
  {
    id: 3,
    title: "50% _off_ \\ now",
    short: "",
    code: "",
    count: -2147483648,
    small: 32767,
    big: "9223372036854775807",
    ratio: "NaN",
    half: 0,
    price: "0",
    at: "1970-01-01T00:00:00Z",
    local: "9999-12-31T23:59:59.999Z",
    day: "0001-01-01",
    meta: { op: "gt", value: 1 },
    notes: "text",
    tags: ["NULL", null, '"{},\\'],
    counts: [],
    times: [null, "2026-01-01T12:00:00Z"],
  },
  {
    id: 4,
    title: "日本 😀 ' \" $$",
    short: "日本語",
    done: true,
    count: 2147483647,
    ratio: 5e-324,
    half: 1.401298464324817e-45,
    price: "-9999999999999999.9999",
    at: "2026-02-28T23:59:59.999Z",
    meta: 0,
    notes: 0,
    tags: ["x"],
  },
  { id: 5, title: "", done: false, count: 0, ratio: 0, price: "100", meta: "x", mood: "calm", tags: ["x", null] },
  { id: 9 },
];

/** The result of one filter in the database. */
interface Found {
  /** The expression; null when no condition was left. */
  sql: string | null;
  ids: number[];
  /** SQLSTATE and message. Always null if the code is correct. */
  error: string | null;
}

/** Runs filters, given as JSON text, against the table. */
export type Find = (filters: string[]) => Promise<Found[]>;

/** Creates the table in a test file's database. Call it at the top of the file. */
export function filterTable(db: Database): Find {
  let find: Find = async () => [];
  beforeAll(async () => {
    const names = Object.values(columns).map((one) => `"${one.name.replaceAll('"', '""')}"`);
    const types = Object.values(columns).map((one) => one.type);
    await db.sql(`create type public."filter mood" as enum ('calm', 'it''s complicated')`);
    await db.sql(
      `create table filtered (id int primary key, secret text default 'hidden',
         third int not null generated always as (id % 3) stored, ${names.map((name, index) => `${name} ${types[index]}`)})`,
    );
    await db.sql(`grant select (id, third, ${names}) on filtered to svc_authenticated`);
    const records = rows.map((row) => ({ ...row, ...sqlNames(row) }));
    await db.sql(
      `insert into filtered (id, ${names}) select id, ${names} from jsonb_populate_recordset(null::filtered, $1)`,
      [JSON.stringify(records)],
    );
    // One round trip for hundreds of filters. An error is reported with the filter that caused it.
    await db.sql(`
      create function find_all(columns jsonb, many text[]) returns table (sql text, ids int[], error text)
      language plpgsql set search_path = '' as $$
      declare
        one text;
      begin
        foreach one in array many loop
          sql := null; ids := null; error := null;
          begin
            sql := svc_hidden.filter_sql(columns, one::jsonb);
            execute 'select array_agg(t.id order by t.id) from public.filtered as t where ' || coalesce(sql, 'true') into ids;
          exception when others then
            error := sqlstate || ' ' || sqlerrm;
          end;
          return next;
        end loop;
      end
      $$`);
    await db.sql("grant execute on function find_all to svc_authenticated");
    const client = await db.connect("admin");
    // Unusual settings: the meaning of a filter must not depend on them.
    await client.query("set timezone = 'Asia/Kolkata'; set datestyle = 'German'; set role svc_authenticated");
    find = async (filters) => {
      const text = "select sql, coalesce(ids, '{}') as ids, error from find_all($1, $2)";
      return (await client.query<Found>(text, [JSON.stringify(columns), filters])).rows;
    };
  });
  return (filters) => find(filters);
}

const sqlNames = (row: Row) =>
  Object.fromEntries(Object.entries(row).map(([property, value]) => [columns[property]?.name ?? property, value]));
