/** The table of the filter tests as a resource: its lists by the prepared statement of their shape, and by svc.find_rows(). */
import { createHash } from "node:crypto";
import pg from "pg";
import { afterAll, beforeAll, expect } from "vitest";
import type { ColumnDescription, CrudDefinition } from "../../src/contract/crud.ts";
import { enterKept, enterPlanning } from "../../src/crud/prepared-read.ts";
import { listShape } from "../../src/crud/read-shape.ts";
import { sendPacket } from "../../src/postgres/packet.ts";
import type { Database } from "../support/database.ts";
import { columns, type FilterColumn } from "./filter-table.ts";

const described = (property: string, { name, type, kind, array, values }: FilterColumn, notNull = false) => {
  const castType = type.replace(/\(\d+(,\d+)?\)/, "").replace(/^char$/, "bpchar");
  return { property, name, type, kind, isArray: array, values, castType, notNull } as unknown as ColumnDescription;
};
const integer = (name: string): FilterColumn => ({
  name,
  type: "integer",
  kind: "integer",
  array: false,
  values: null,
});
const id = described("id", integer("id"), true);
/** `third` has duplicates and no null. */
const all = [
  id,
  described("third", integer("third"), true),
  ...Object.entries(columns).map((entry) => described(...entry)),
];

const crud = {
  prefix: "filtered",
  id,
  columns: all,
  visible: new Set(all.map(({ property }) => property)),
  defaultLimit: 20,
  maxLimit: 100,
  count: "exact",
  allowedFilters: Object.keys(columns),
} as unknown as CrudDefinition;

/** The columns that lists may be sorted by. */
export const sortable = all.filter(({ isArray, kind }) => !isArray && kind !== "json");

const resource = {
  name: "filtered",
  table: "public.filtered",
  orderBy: "id",
  count: "exact",
  columns: Object.fromEntries(
    sortable.map(({ property, name, castType, notNull }) => [property, { name, type: castType, notNull }]),
  ),
  filters: columns,
  search: ["title"],
  fields: [["id", "id", "t.id"]],
};

export interface List {
  data: { id: number }[];
  total: number;
  nextCursor?: string | null;
}
type Arguments = Record<string, unknown>;

/** Call it at the top, after `filterTable()`. */
export function listShapes(db: Database) {
  let client: pg.Client;
  let caller: pg.Client;
  beforeAll(async () => {
    client = new pg.Client({ connectionString: db.url("request"), pipeline: true } as pg.ClientConfig);
    await client.connect();
    caller = await db.connect("admin");
    await caller.query("set timezone = 'UTC'; set role svc_authenticated; set svc.user_id = 'ann'");
  });
  afterAll(() => client.end());
  return {
    /** @returns undefined for lists without a shape */
    async prepared(args: Arguments): Promise<List | undefined> {
      const shape = listShape(crud, args);
      if (!shape) return undefined;
      const written = await db.sql<{ text: string | null }>("select svc.list_statement($1) as text", [
        JSON.stringify({ ...resource, shape: shape.shape }),
      ]);
      const text = written[0]?.text;
      if (!text) return undefined;
      const name = createHash("md5").update(text).digest("hex");
      const ask = async (enter: typeof enterKept) => {
        const values = ["ann", "svc_authenticated"];
        const [answer] = await sendPacket(client, { ...enter, values }, { name, text, values: shape.values });
        return answer?.[0];
      };
      const answer = await ask(enterPlanning);
      // Whether a plan is kept must never change an answer.
      if (shape.compared) expect(await ask(enterKept)).toBe(answer);
      return JSON.parse(answer ?? "");
    },
    async found({ limit = 20, page = 1, ...args }: Arguments): Promise<List> {
      const list = { ...resource, args: { select: ["id"], ...args }, pageSize: limit, page };
      const { rows } = await caller.query("select svc.find_rows($1::jsonb) as list", [JSON.stringify(list)]);
      return rows[0].list;
    },
  };
}
