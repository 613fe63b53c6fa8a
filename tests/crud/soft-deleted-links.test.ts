// If this file fails, rows stay related through a row of a join table that was softly deleted: a label that was taken off is shown.
import { integer, pgTable, serial, text, timestamp } from "drizzle-orm/pg-core";
import { beforeAll, expect, test } from "vitest";
import { crudFile } from "../../src/crud/crud-sql.ts";
import { createCrudFactory, createSvcProcedureBuilders, openRls } from "../../src/index.ts";
import { database } from "../support/database.ts";
import { apiWith, service } from "../support/service.ts";

const open = () => openRls({ read: "anyone", write: "authenticated" });
const issues = pgTable("issues", { id: serial("id").primaryKey(), title: text("title") }, open);
const labels = pgTable("labels", { id: serial("id").primaryKey(), name: text("name") }, open);
const issueLabels = pgTable(
  "issue_labels",
  {
    id: serial("id").primaryKey(),
    issueId: integer("issue_id").references(() => issues.id),
    labelId: integer("label_id").references(() => labels.id),
    takenOffAt: timestamp("taken_off_at", { withTimezone: true }),
  },
  open,
);
const schema = { issues, labels, issueLabels };
const createCrud = createCrudFactory(createSvcProcedureBuilders<typeof schema>(), schema);
const api = apiWith({
  procedures: {
    issues: createCrud(issues, { allowAnonymous: true, include: [{ name: "labels", through: issueLabels }] }),
    labels: createCrud(labels, { allowAnonymous: true }),
    issueLabels: createCrud(issueLabels, { softDelete: { field: "takenOffAt" } }),
  },
});

const db = database();
beforeAll(async () => {
  await db.sql(`
    create table issues (id serial primary key, title text);
    create table labels (id serial primary key, name text);
    create table issue_labels (id serial primary key, issue_id integer references issues, label_id integer references labels,
      taken_off_at timestamptz);
    grant select on issues, labels, issue_labels to svc_anonymous, svc_authenticated;
    insert into issues (title) values ('a');
    insert into labels (name) values ('on'), ('taken off');
    insert into issue_labels (issue_id, label_id, taken_off_at) values (1, 1, null), (1, 2, now())`);
  const mine = api["~svc"].crud.filter(({ prefix }) => ["issues", "labels", "issue_labels"].includes(prefix));
  await db.sql(`set role svc_owner; ${mine.map(crudFile).join("\n")} reset role`);
});

const running = service(db, api);

test("rows are related through rows of a join table that are not softly deleted", async () => {
  const include = { labels: { select: ["name"] }, _count: { labels: true } };
  const { body } = await running.query(null, "issues.list", { include, select: ["title"] });
  expect(body.json.data).toEqual([{ title: "a", labels: [{ name: "on" }], _count: { labels: 1 } }]);
});
