// If this file fails, a tenant's export holds rows of another tenant, or an import reads, changes or adds rows of one.
import { pgTable, serial, text } from "drizzle-orm/pg-core";
import { beforeAll, describe, expect, test } from "vitest";
import { crudFile } from "../../src/crud/crud-sql.ts";
import { createCrudFactory, createSvcProcedureBuilders, defineApi, memberRls, ownerRls } from "../../src/index.ts";
import * as fixture from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { apiWith, bearer, service, type User } from "../support/service.ts";
import { until, workers } from "../support/worker.ts";
import { readFile, upload } from "../transfer/entries.ts";

const codes = pgTable(
  "codes",
  {
    id: serial("id").primaryKey(),
    userId: text("user_id").notNull(),
    code: text("code").notNull().unique(),
    note: text("note"),
  },
  (t) => ownerRls(t.userId),
);
const places = pgTable(
  "places",
  { id: serial("id").primaryKey(), teamId: text("team_id").notNull(), code: text("code").notNull().unique() },
  (t) => memberRls({ through: fixture.memberships, team: t.teamId, user: fixture.memberships.userId }),
);
const createCrud = createCrudFactory(createSvcProcedureBuilders());
const transfer = { export: true, import: true };
const procedures = {
  codes: createCrud(codes, { upsertBy: ["code"], allowedFilters: ["note", "userId"], transfer }),
  places: createCrud(places, { upsertBy: ["code"], allowedFilters: ["teamId"], transfer }),
  upload,
  readFile,
};
const api = apiWith({ procedures });

const db = database();
beforeAll(() =>
  db.sql(`
    create table codes (id serial primary key, user_id text not null, code text not null unique, note text);
    create table places (id serial primary key, team_id text not null, code text not null unique);
    alter table codes enable row level security;
    create policy own on codes to svc_authenticated using (user_id = (select svc.current_user_id()));
    alter table places enable row level security;
    create policy member on places to svc_authenticated
      using (team_id = any (array(select team_id from memberships where user_id = (select svc.current_user_id()))));
    grant all on codes, places to svc_authenticated;
    grant usage on all sequences in schema public to svc_authenticated;
    ${defineApi({ procedures })["~svc"].crud.map(crudFile).join("\n")}`),
);
const running = service(db, api);
const startWorker = workers(db, api);

interface Tenant {
  number: number;
  user: User;
}
const tenants: Tenant[] = [];
beforeAll(async () => {
  for (let number = 0; number < 5; number++) {
    const user = await running.signUp(`tenant${number}`);
    tenants.push({ number, user });
    await db.sql("insert into memberships (team_id, user_id) values ($1, $2)", [`team${number}`, user.id]);
    const of = [user.id, number];
    await db.sql(
      "insert into codes (user_id, code, note) select $1, $2 || '-' || n, 'own' || $2 from generate_series(1, 20) n",
      of,
    );
    await db.sql(
      "insert into places (team_id, code) select 'team' || $1, $1 || '-' || n from generate_series(1, 20) n",
      [number],
    );
  }
  await startWorker({ concurrency: 2 });
});

const stored = () =>
  db.sql<{ owner: string; code: string; note: string }>(
    `select user_id as owner, code, note from codes union all select team_id, code, null from places order by 1, 2, 3`,
  );
const ownersOf = ({ number, user }: Tenant) => [user.id, `team${number}`];

describe("an export", () => {
  test.for(["csv", "ndjson"])(
    "as %s holds the rows of the caller's tenant alone, whatever its filters",
    async (format) => {
      for (const tenant of tenants) {
        const other = tenants[(tenant.number + 1) % tenants.length] as Tenant;
        const filters = { OR: [{ userId: other.user.id }, { note: { op: "like", value: "own%" } }] };
        for (const [resource, query] of [
          ["codes", ""],
          ["codes", `filters=${encodeURIComponent(JSON.stringify(filters))}`],
          ["places", ""],
        ]) {
          const path = `/api/export/${resource}.${format}?${query}`;
          const { status, body } = await running.fetch(path, { headers: bearer(tenant.user) });
          const found = body.match(/\b\d-\d+\b/g).sort();
          expect({ status, found }).toEqual({ status: 200, found: codesOf(tenant.number) });
          for (const { number, user } of tenants) {
            if (number !== tenant.number) expect(body).not.toMatch(new RegExp(`${user.id}|own${number}|team${number}`));
          }
        }
      }
      expect((await running.fetch(`/api/export/codes.${format}`)).status).toBe(401);
    },
  );
});

const codesOf = (number: number) => Array.from({ length: 20 }, (_, n) => `${number}-${n + 1}`).sort();

/** Imports a file as the tenant. @returns the result, and the refused rows */
async function imported({ user }: Tenant, resource: string, lines: string[], args: object) {
  const bytes = Buffer.from(lines.join("\n")).toString("base64");
  const storageId = (await running.mutate(user, "upload", { bytes })).body.json;
  const { body } = await running.mutate(user, `${resource}.import`, { storageId, format: "csv", ...args });
  const show = async () => (await running.query(user, "workflows.get", { id: body.json.id })).body.json;
  await until(async () => ["completed", "failed"].includes((await show()).status));
  const { result } = await show();
  const { refusedFile } = result;
  const refused = refusedFile === null ? "" : (await running.mutate(user, "readFile", { id: refusedFile })).body.json;
  return { result, refused: refused as string, storageId };
}

describe("an import", () => {
  test.for([{ mode: "insert" }, { mode: "upsert", by: "code" }])(
    "to %o changes no row of another tenant",
    async (args) => {
      const { mode } = args;
      for (const tenant of tenants) {
        const before = await stored();
        const other = tenants[(tenant.number + 1) % tenants.length] as Tenant;
        const { id } = other.user;
        const mine = `${tenant.number}-7`;
        const lines = [
          "id,userId,code,note",
          `1,${id},${other.number}-3,taken`,
          `2,${id},${mine},changed ${mode}`,
          `3,${id},${mode} ${tenant.number},added`,
        ];
        const { result, refused } = await imported(tenant, "codes", lines, args);
        expect(result).toMatchObject(mode === "insert" ? { written: 1, refused: 2 } : { written: 2, refused: 1 });
        expect(refused.split("\r\n")[1]).toMatch(mode === "insert" ? /^2,CONFLICT,/ : /^2,FORBIDDEN,/);
        expect(refused).not.toMatch(new RegExp(`${id}|own${other.number}`));

        const boards = ["teamId,code", `team${other.number},theirs`, `team${tenant.number},${mode} ${tenant.number}`];
        const into = await imported(tenant, "places", [...boards, `team${tenant.number},${other.number}-3`], args);
        expect(into.result).toMatchObject({ written: 1, refused: 2 });
        expect(into.refused).toMatch(/\r\n2,FORBIDDEN,/);

        const isOthers = ({ owner }: { owner: string }) => !ownersOf(tenant).includes(owner);
        const after = await stored();
        expect(after.filter(isOthers)).toEqual(before.filter(isOthers));
        const added = after.length - before.length;
        expect({ added, changed: after.filter(({ note }) => note === `changed ${mode}`).length }).toEqual({
          added: 2,
          changed: mode === "insert" ? 0 : tenant.number + 1,
        });
      }
    },
  );

  test("reads no file of another tenant", async () => {
    const [one, two] = tenants as [Tenant, Tenant];
    const { storageId } = await imported(one, "codes", ["code", "secret"], { mode: "insert" });
    const before = await stored();
    const answer = await running.mutate(two.user, "codes.import", { storageId, format: "csv" });
    expect(answer).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
    expect(await stored()).toEqual(before);
  });
});
