// If this file fails, one of many tenants reads or counts rows of another one through a relation: by include, a count of
// related rows, a filter that reaches through, or an aggregate. The rows refer to each other across tenants.
import { integer, pgTable, primaryKey, serial, text } from "drizzle-orm/pg-core";
import { beforeAll, expect, test } from "vitest";
import { crudFile } from "../../src/crud/crud-sql.ts";
import { createCrudFactory, createSvcProcedureBuilders, defineApi, ownerRls } from "../../src/index.ts";
import { random } from "../crud/random.ts";
import { type Args, expected } from "../crud/relational-evaluator.ts";
import type { Column, Options, Policy, Relation, Row, Table } from "../crud/relational-types.ts";
import { database } from "../support/database.ts";
import { apiWith, service, type User } from "../support/service.ts";

const runs = Math.min(Number(process.env.FUZZ_RUNS ?? 150), 10_000);
const seed = Number(process.env.FUZZ_SEED ?? 20260101);
const tenants = 6;

const own = { id: serial("id").primaryKey(), userId: text("user_id").notNull(), name: text("name").notNull() };
const projects = pgTable("projects", { ...own, code: text("code").notNull().unique() }, (t) => ownerRls(t.userId));
const tasks = pgTable("tasks", { ...own, projectId: integer("project_id").references(() => projects.id) }, (t) =>
  ownerRls(t.userId),
);
const labels = pgTable("labels", own, (t) => ownerRls(t.userId));
const taskLabels = pgTable(
  "task_labels",
  {
    userId: text("user_id").notNull(),
    taskId: integer("task_id").references(() => tasks.id),
    labelId: integer("label_id").references(() => labels.id),
  },
  (t) => [primaryKey({ columns: [t.taskId, t.labelId] }), ...ownerRls(t.userId)],
);
const schema = { projects, tasks, labels, taskLabels };
const createCrud = createCrudFactory(createSvcProcedureBuilders<typeof schema>(), schema);
const common = {
  defaultLimit: 50,
  maxLimit: 50,
  aggregate: { groupBy: ["name"], measures: ["count", "max:id"] },
} as const;
const procedures = {
  // biome-ignore format: a table
  projects: createCrud(projects, { ...common, getBy: ["code"], allowedFilters: ["name", "code"], include: ["tasks"] }),
  tasks: createCrud(tasks, { ...common, allowedFilters: ["name"], include: ["project", "labels"] }),
  labels: createCrud(labels, { ...common, allowedFilters: ["name"], include: ["tasks"] }),
};

const db = database();
beforeAll(async () => {
  const policies = ["projects", "tasks", "labels", "task_labels"].map(
    (name) => `alter table ${name} enable row level security;
      create policy own on ${name} to svc_authenticated using (user_id = (select svc.current_user_id()));
      grant all on ${name} to svc_authenticated;`,
  );
  await db.sql(`
    create table projects (id serial primary key, user_id text, name text, code text not null unique);
    create table tasks (id serial primary key, user_id text, name text, project_id integer references projects);
    create table labels (id serial primary key, user_id text, name text);
    create table task_labels (user_id text, task_id integer references tasks, label_id integer references labels,
      primary key (task_id, label_id));
    ${policies.join("\n")}
    ${defineApi({ procedures })["~svc"].crud.map(crudFile).join("\n")}`);
});
const running = service(db, apiWith({ procedures }));
const { below, chance, pick, some } = random(seed);

// The same tables for the evaluator.
const sees: Policy["sees"] = (row, user) => user !== null && row.userId === user;
const column = (property: string): Column => {
  const kind = property === "id" || property.endsWith("Id") ? "integer" : "text";
  return { property, kind: property === "userId" ? "text" : kind, name: property, type: "text" };
};
function table(name: string, properties: string[], filters: string[] | null): Table {
  const options = {
    allowAnonymous: false,
    visible: properties,
    allowedFilters: filters ?? [],
    searchFields: [],
    softDelete: null,
    count: "exact",
    include: [],
    ...common,
    groupBy: ["name"],
    measures: ["count", "max:id"],
  } satisfies Options;
  const policy = { what: "own", roles: "", using: "", sees };
  const columns = properties.map(column);
  return { name, columns, rows: [], policy, relations: new Map(), options: filters && options, hasPair: false };
}
const project = table("projects", ["id", "userId", "name", "code"], ["name", "code"]);
const task = table("tasks", ["id", "userId", "name", "projectId"], ["name"]);
const label = table("labels", ["id", "userId", "name"], ["name"]);
const link = table("task_labels", ["userId", "taskId", "labelId"], null);
const world = [project, task, label];
const relate = (from: Table, name: string, relation: Relation) => from.relations.set(name, relation);
relate(project, "tasks", { target: task, many: true, local: ["id"], foreign: ["projectId"] });
relate(task, "project", { target: project, many: false, local: ["projectId"], foreign: ["id"] });
const [byTask, byLabel] = [["taskId"], ["labelId"]];
const key = { many: true, local: ["id"], foreign: ["id"] };
relate(task, "labels", { ...key, target: label, through: { table: link, local: byTask, foreign: byLabel } });
relate(label, "tasks", { ...key, target: task, through: { table: link, local: byLabel, foreign: byTask } });

const users: (User | null)[] = [null];
beforeAll(async () => {
  for (let number = 0; number < 4; number++) users.push(await running.signUp(`tenant${number}`));
  const owners = [
    ...users.flatMap((user) => user?.id ?? []),
    ...Array.from({ length: tenants - 4 }, (_, n) => `x${n}`),
  ];
  /** A name says whose it is. Few others are there, so that filters match rows of several tenants. */
  const named = (userId: string) => (chance(0.5) ? `own${owners.indexOf(userId)}` : pick(["a", "b"]));
  for (let id = 1; id <= 10 * tenants; id++) {
    const owner = () => pick(owners);
    for (const { columns, rows } of world) {
      const userId = owner();
      const mine = project.rows.filter((one) => one.userId === userId && chance(0.5));
      const projectId = (mine.at(-1) ?? { id: 1 + below(id) }).id;
      const all: Row = { id, userId, name: named(userId), code: `code ${id}`, projectId };
      rows.push(Object.fromEntries(columns.map(({ property }) => [property, all[property]])) as Row);
    }
    for (const labelId of new Set([1 + below(id), 1 + below(id), 1 + below(id)])) {
      const userId = chance(0.7) ? task.rows.at(-1)?.userId : owner();
      link.rows.push({ userId, taskId: id, labelId } as unknown as Row);
    }
  }
  const snake = (name: string) => name.replace(/[A-Z]/, (letter) => `_${letter.toLowerCase()}`);
  for (const { name, rows } of [...world, link]) {
    const stored = rows.map((row) =>
      Object.fromEntries(Object.entries(row).map(([one, value]) => [snake(one), value])),
    );
    await db.sql(`insert into ${name} select * from jsonb_populate_recordset(null::${name}, $1)`, [
      JSON.stringify(stored),
    ]);
  }
});

/** Of any tenant. */
const value = (from: Table) => pick(pick(from.rows).name === "a" ? ["a", "b"] : [pick(from.rows).name]);
function filters(from: Table, depth = 0): Args {
  const relations = [...from.relations].filter(() => depth < 2 && chance(0.4));
  const through = relations.map(([name, { many, target }]) => {
    const inner = filters(target, depth + 1);
    return [name, many ? { [pick(["some", "none", "every"])]: inner } : inner];
  });
  const own = { name: chance(0.5) ? value(from) : { op: "in", value: [value(from), value(from)] } };
  return { ...((through.length === 0 || chance(0.3)) && own), ...Object.fromEntries(through) };
}
function include(from: Table, depth = 0): Args {
  const counts = [...from.relations].filter(([, { many }]) => many && chance(0.5));
  const inner = some([...from.relations]).map(([name, { target, many }]) => [
    name,
    {
      ...(depth < 2 && chance(0.5) && { include: include(target, depth + 1) }),
      ...(many && { limit: pick([1, 3, 5]) }),
      ...(many && chance(0.3) && { filters: filters(target) }),
    },
  ]);
  const _count = Object.fromEntries(counts.map(([name, { target }]) => [name, { filters: filters(target, 1) }]));
  return { ...Object.fromEntries(inner), ...(counts.length > 0 && { _count }) };
}

test("random calls read and count no related row that is not the caller's", { timeout: 3_600_000 }, async () => {
  let [related, counted] = [0, 0];
  for (let number = 0; number < runs; number++) {
    const user = chance(0.05) ? null : pick(users.slice(1));
    const from = pick(world);
    const operation = pick(["list", "get", "aggregate"] as const);
    const row = pick(chance(0.5) ? from.rows : from.rows.filter(({ userId }) => userId === user?.id));
    const args: Args =
      operation === "aggregate"
        ? { measures: ["count", "max:id"], filters: filters(from), ...(chance(0.5) && { groupBy: ["name"] }) }
        : { ...(chance(0.8) && { include: include(from) }), ...(operation === "get" ? { id: row?.id ?? 1 } : {}) };
    if (operation === "list")
      Object.assign(args, { limit: pick([1, 2, 5]), ...(chance(0.5) && { filters: filters(from) }) });
    if (operation !== "aggregate" && chance(0.3)) args.select = ["name"];
    const wanted = expected({ table: from, operation, args }, user?.id ?? null);
    // A project is also found by its code.
    const { id, ...others } = args;
    const sent = operation === "get" && from === project && chance(0.5) ? { ...others, code: `code ${id}` } : args;
    const { status, body } = await running.query(user, `${from.name}.${operation}`, sent);
    const about = `FUZZ_SEED=${seed}, call ${number}: ${from.name}.${operation} ${JSON.stringify(sent)} ${JSON.stringify(body.issues)}`;
    expect(status === 200 ? { status, json: body.json } : { status }, about).toEqual(wanted);
    const answer = JSON.stringify(body.json ?? null);
    const mine = `own${users.filter(Boolean).indexOf(user)}`;
    expect(
      (answer.match(/own\d+/g) ?? []).filter((name) => name !== mine),
      about,
    ).toEqual([]);
    if (/"(project":\{|labels":\[\{|tasks":\[\{)/.test(answer)) related++;
    if (/"(count|tasks|labels)":[1-9]/.test(answer)) counted++;
  }
  expect(related).toBeGreaterThan(runs / 20);
  expect(counted).toBeGreaterThan(runs / 20);
});
