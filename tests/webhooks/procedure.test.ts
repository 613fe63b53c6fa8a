// If this file fails, a change of a table does not run the procedure that the author named for it, or runs it for what was rolled back.
import { bigint, json, jsonb, numeric, pgTable, text, timestamp } from "drizzle-orm/pg-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { defineApi, webhook } from "../../src/index.ts";
import { webhooksFile } from "../../src/webhooks/webhooks-sql.ts";
import { procedure } from "../fixture/backend/index.ts";
import { notes } from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { apiWith, TestService, type User } from "../support/service.ts";
import { jobs, until, workers } from "../support/worker.ts";

const got: { body: Body; user: unknown; all: number; requestId: string }[] = [];
let failures = 0;
const form = z.object({
  type: z.string(),
  operation: z.enum(["insert", "update", "delete"]),
  timestamp: z.iso.datetime({ offset: true }),
  data: z.record(z.string(), z.unknown()),
});
type Body = z.infer<typeof form>;
const follow = procedure.internal
  .name("notes.follow")
  .input(form)
  .handler(async ({ context, input }) => {
    if (failures-- > 0) throw new Error("not now");
    const { auth, db, requestId } = context;
    got.push({ body: input, user: auth.getSession()?.user.id, all: await db.$count(notes), requestId });
  });
const noteFollowed = webhook({
  name: "note-followed",
  on: notes,
  when: ["insert", "update", "delete"],
  columns: ["id", "title", "createdAt"],
  to: { procedure: follow },
});
const noteDone = webhook({
  name: "note-done",
  on: notes,
  when: "update",
  filter: { done: true },
  columns: ["id"],
  to: { procedure: follow },
});
const failing = procedure.mutation.name("notes.fail").handler(async ({ context: { auth, db } }) => {
  await db.insert(notes).values({ title: "gone", userId: auth.requireAuth().user.id });
  throw new Error("after the insert");
});

const db = database();
const api = apiWith({ procedures: { failing }, webhooks: { noteFollowed, noteDone } });
const app = new TestService(db, api, {});
const worker = workers(db, api);
let ann: User;
beforeAll(async () => {
  await db.sql(`set role svc_owner; ${webhooksFile(api["~svc"].webhooks)}; reset role`);
  await app.start();
  ann = await app.signUp("ann");
  await worker();
});
afterAll(() => app.stop());
beforeEach(async () => {
  await db.sql("delete from notes");
  await until(async () => (await jobs(db)).length === 0);
  got.length = 0;
  failures = 0;
});

const insert = (title: string) =>
  db.sql("insert into notes (user_id, title) values ($1, $2) returning id", [ann.id, title]).then(([row]) => row?.id);
const settled = () => until(async () => (await jobs(db)).length === 0);
const bodies = () => got.map(({ body: { type, operation, data } }) => [type, operation, data.title ?? null]);

describe("a webhook to a procedure", () => {
  test("runs it as the system with the body of a change that a request made, under the id of the request", async () => {
    const { body, headers } = await app.mutate(ann, "notes.create", { title: "boat" });
    await until(() => got.length === 1);
    expect(got).toEqual([
      {
        body: {
          type: "note-followed",
          operation: "insert",
          timestamp: expect.any(String),
          data: { id: body.json.id, title: "boat", createdAt: body.json.createdAt },
        },
        user: undefined,
        all: 1,
        requestId: headers.get("x-request-id"),
      },
    ]);
  });

  test("runs it for what psql changed, once for each row, and says how", async () => {
    await db.sql("insert into notes (user_id, title) select $1, n from unnest(array['a', 'b', 'c']) n", [ann.id]);
    await settled();
    await db.sql("update notes set title = title || '!' where title <> 'c'");
    await settled();
    await db.sql("delete from notes");
    await settled();
    expect(bodies().sort()).toEqual(
      [
        ...["a", "b", "c"].map((title) => ["note-followed", "insert", title]),
        ...["a!", "b!"].map((title) => ["note-followed", "update", title]),
        ...["a!", "b!", "c"].map((title) => ["note-followed", "delete", title]),
      ].sort(),
    );
  });

  test("does not run it for what was rolled back, for other columns, or for rows that the filter leaves out", async () => {
    expect((await app.mutate(ann, "notes.fail")).status).toBe(500);
    const id = await insert("boat");
    await db.sql("update notes set priority = 3");
    await db.sql("update notes set done = true where id = $1", [id]);
    await db.sql("update notes set priority = 4");
    await settled();
    expect(bodies().sort()).toEqual([
      ["note-done", "update", null],
      ["note-followed", "insert", "boat"],
    ]);
  });

  test("tries it again, as any job", async () => {
    failures = 1;
    await insert("boat");
    await until(async () => (await jobs(db)).some(({ last_error }) => last_error?.includes("not now")));
    expect(got).toEqual([]);
    await db.sql("update graphile_worker._private_jobs set run_at = now()");
    await until(() => got.length === 1);
    expect(bodies()).toEqual([["note-followed", "insert", "boat"]]);
  });

  test("takes rows with long texts, and sends nothing to receivers", async () => {
    await insert("x".repeat(200_000));
    await until(() => got.length === 1);
    expect(got[0]?.body.data.title).toHaveLength(200_000);
    expect(await db.sql("select from svc.webhook_deliveries")).toEqual([]);
  });

  test("refuses a change of more than 16 MiB, which would be claimed again and again", async () => {
    await expect(insert("x".repeat(17_000_000))).rejects.toThrow(
      "the webhook note-followed tells at most 16 MiB of a row",
    );
    expect(await jobs(db)).toEqual([]);
  });

  test("is told by its name in the database, as in psql and Studio", async () => {
    const [row] = await db.sql("select svc_private.studio_webhooks() as it");
    expect(row?.it).toMatchObject({
      webhooks: [
        { name: "note-done", table: "public.notes", when: ["update"], receiver: "notes.follow", isProcedure: true },
        {
          name: "note-followed",
          table: "public.notes",
          when: ["insert", "update", "delete"],
          receiver: "notes.follow",
          isProcedure: true,
        },
      ],
    });
  });
});

describe("the procedure of a webhook", () => {
  const options = { name: "told", on: notes, when: "insert", columns: ["id"] } as const;
  const nameless = procedure.internal.handler(() => {});

  test("is registered with it, and gets its name from its place under procedures", () => {
    expect(api["~svc"].procedures.get("notes.follow")).toBe(follow["~svc"].procedure);
    const told = webhook({ ...options, to: { procedure: nameless } });
    expect(() => defineApi({ webhooks: { told } })).toThrow(
      /The procedure of the webhook "told" has no name.\s+Register it under procedures/,
    );
    const named = defineApi({ procedures: { own: { nameless } }, webhooks: { told } });
    expect(named["~svc"].webhooks).toMatchObject([{ name: "told", procedure: "own.nameless" }]);
  });

  test.for(["apiKey", "signIn"] as const)("gets no column %s, which has the name of a secret", (property) => {
    const people = pgTable("people", { id: text("id").primaryKey(), apiKey: text("key"), signIn: text("password") });
    const told = () => webhook({ ...options, on: people, columns: ["id", property], to: { procedure: follow } });
    expect(told).toThrow(new RegExp(`${property} has the name of a secret.*\\s+Leave it out of columns`));
    expect(() => webhook({ ...options, on: people, columns: [property], to: { env: "A_HOOK" } })).not.toThrow();
  });

  test("gets no column of the type json, by which no job could be listed", () => {
    const papers = pgTable("papers", {
      id: text("id").primaryKey(),
      a: json("a"),
      b: json("b").array(),
      c: jsonb("c"),
    });
    for (const property of ["a", "b"] as const)
      expect(() => webhook({ ...options, on: papers, columns: [property], to: { procedure: follow } })).toThrow(
        /is json, whose texts may have characters that a job cannot have.\s+Make the column jsonb/,
      );
    expect(() => webhook({ ...options, on: papers, columns: ["c"], to: { procedure: follow } })).not.toThrow();
  });

  const bills = pgTable("bills", {
    id: text("id").primaryKey(),
    amount: numeric("amount", { mode: "number" }),
    number: bigint("number", { mode: "number" }),
    paidAt: timestamp("paid_at"),
    status: text("status", { enum: ["open", "paid"] }),
    tags: text("tags").array(),
    more: jsonb("more"),
  });
  const taking = (input: z.ZodType) => () =>
    webhook({
      name: "told",
      on: bills,
      when: "insert",
      columns: ["id", "amount", "number", "paidAt", "status", "tags", "more"],
      to: {
        procedure: procedure.internal
          .name("bills.take")
          .input(input)
          .handler(() => {}),
      },
    });
  const data = (shape: z.ZodRawShape) => z.object({ data: z.object(shape) });
  const later: z.ZodType[] = [];

  test.for<[string, z.ZodType]>([
    ["id: ", z.object({ id: z.string() })],
    ["data.title: ", data({ title: z.string() })],
    ["data.amount: ", data({ amount: z.number() })],
    ["data.number: ", data({ number: z.number() })],
    ["data.paidAt: ", data({ paidAt: z.date() })],
    ["data: ", z.object({ data: z.strictObject({ id: z.string() }) })],
    ["", z.strictObject({ data: z.unknown() })],
    ["data: ", z.object({ data: z.string() })],
  ])("is refused when its input never takes the body: %s", ([path, input]) => {
    expect(taking(input)).toThrow(`The webhook "told": its procedure does not take the body. ${path}`);
    expect(taking(input)).toThrow("The body is { type, operation, timestamp, data: { id, amount, number, paidAt,");
  });

  test.for<[string, z.ZodType]>([
    [
      "lengths and forms",
      data({ id: z.string().min(9).startsWith("b-"), amount: z.coerce.number(), paidAt: z.iso.datetime() }),
    ],
    ["a rule with a path of its own", data({ id: z.string() }).refine(() => false, { path: ["other"] })],
    [
      "one of the values",
      data({ status: z.literal("paid"), more: z.object({ a: z.string() }), tags: z.array(z.string()).min(1) }),
    ],
    ["other events", z.object({ operation: z.literal("delete") })],
    ["a later answer", data({ id: z.string().refine(async () => false) })],
    ["an error of its own", data({ id: z.string().transform((text) => JSON.parse(text)) })],
    ["names that may be missing", data({ title: z.string().optional() })],
    ["a part that is defined later", data({ more: z.lazy((): z.ZodType => (later[0] as z.ZodType).optional()) })],
  ])("is left to say what it takes of values: %s", ([, input]) => {
    expect(taking(input)).not.toThrow();
  });

  test("has checks that may ask a database: none runs when the webhook is defined", () => {
    let asked = 0;
    const isThere = async () => ++asked < 0;
    for (const input of [
      data({ id: z.string().refine(isThere) }),
      data({ id: z.string().transform(isThere) }),
      z.object({ data: z.unknown() }).check(async () => void (await isThere())),
    ])
      expect(taking(input)).not.toThrow();
    expect(asked).toBe(0);
  });

  test("gets nothing that waits for a receiver, nor does the receiver, once the webhook runs it", async () => {
    const declare = (to: { env: string } | { procedure: typeof follow }) => {
      const { webhooks } = defineApi({ webhooks: { told: webhook({ ...options, to }) } })["~svc"];
      return db.sql(`set role svc_owner; ${webhooksFile(webhooks)}; reset role`);
    };
    await declare({ env: "TOLD_HOOK" });
    await insert("boat");
    await declare({ procedure: follow });
    const dead = [{ state: "dead", last_error: "The webhook runs a procedure now." }];
    expect(await db.sql("select state, last_error from svc.webhook_deliveries")).toEqual(dead);
    expect(await db.sql("select svc_private.retry_deliveries(null, null)::integer as retried")).toEqual([
      { retried: 0 },
    ]);
  });

  test("is an internal one, and no other than that under procedures", () => {
    const open = procedure.mutation.name("open").handler(() => {});
    for (const wrong of [open, undefined, "notes.follow"]) {
      expect(() => webhook({ ...options, to: { procedure: wrong as never } })).toThrow(
        /or \{ procedure \} with an internal/,
      );
    }
    const twin = procedure.internal.name("notes.follow").handler(() => {});
    expect(() => defineApi({ procedures: { twin }, webhooks: { noteFollowed } })).toThrow(
      'The webhook "note-followed" runs another "notes.follow" than the one under procedures.',
    );
  });
});
