// If this file fails, a device whose mutation was saved does not learn the key of its row, or learns one of another user's.
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { procedure } from "../fixture/backend/index.ts";
import { notes } from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { apiWith, bearer, service, type User } from "../support/service.ts";

const place = procedure.mutation
  .name("orders.place")
  .input(z.object({ title: z.string() }))
  .handler(async ({ context, input: { title } }) => {
    const userId = context.auth.requireAuth().user.id;
    const [made] = await context.db.insert(notes).values({ title, userId }).returning();
    return { id: made?.id, at: made?.createdAt, marks: new Set([1]), text: "x".repeat(1_100_000) };
  });
const visit = procedure.mutation
  .name("orders.visit")
  .allowAnonymous()
  .handler(() => 1);

const db = database();
const svc = service(db, apiWith({ procedures: { place, visit } }));
let ann: User;
let bob: User;
beforeAll(async () => {
  ann = await svc.signUp("ann");
  bob = await svc.signUp("bob");
});
const newKey = () => crypto.randomUUID();
const send = (user: User, key: string, path: string, body: unknown) =>
  svc.fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": key, ...bearer(user) },
    body: JSON.stringify(body),
  });
const args = { title: "tea" };
const order = (user: User, key: string) => send(user, key, "/api/mutation", { name: "orders.place", args });

describe("of an answer that is not kept", () => {
  const large = "x".repeat(1_100_000);
  const keep = async (...answers: string[]) => {
    const client = await db.connect("request");
    const key = newKey();
    await client.query("begin");
    await client.query("select set_config('svc.user_id', $1, true)", [ann.id]);
    await client.query("select svc.claim_key($1, '')", [key]);
    await client.query("select svc.keep_answers($1, $2)", [key, answers]);
    const read = async (user: User) => {
      await client.query("select set_config('svc.user_id', $1, true)", [user.id]);
      const { rows } = await client.query("select svc.short_answers($1) as short", [key]);
      return rows[0].short;
    };
    const kept = [await read(ann), await read(bob)];
    await client.query("commit");
    await client.end();
    return kept;
  };

  test("its short members are told, with their encoding: the key of a row, and when it was changed", async () => {
    const key = newKey();
    const { body: first } = await order(ann, key);
    const { id, at } = first.json;
    const { body } = await order(ann, key);
    expect(body.answers).toEqual([{ json: { id, at }, meta: [[expect.any(Number), "at"]] }]);
    expect(first.meta).toContainEqual(body.answers[0].meta[0]);
    const calls = [{ name: "orders.place", args }, { name: "orders.visit" }];
    const all = newKey();
    const { body: batch } = await send(ann, all, "/api/batch", { calls });
    const { json } = batch.results[0];
    const again = await send(ann, all, "/api/batch", { calls });
    expect(again.body).toMatchObject({
      code: "ANSWER_NOT_KEPT",
      answers: [{ json: { id: json.id, at: json.at } }, null],
    });
  });

  test.for([
    ["a text", JSON.stringify({ json: large })],
    ["a list", JSON.stringify({ json: [1, large] })],
    ["no JSON", large],
    ["a name with a NUL", JSON.stringify({ json: { "a\0": 1, large } })],
    ["objects in objects", `${'{"json":{"a":'.repeat(1)}${"[".repeat(100_000)}${"]".repeat(100_000)},"b":"${large}"}}`],
    ["an encoding that is not a list", JSON.stringify({ json: { large }, meta: 7 })],
  ] as const)("nothing is kept where it is %s, and the call is saved", async ([, answer]) => {
    expect(await keep(answer)).toEqual([[null], null]);
  });

  test("as little is kept as a row needs, for its user alone", async () => {
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`n${n}`, n]));
    const long = {
      text: "y".repeat(251),
      fits: "y".repeat(240),
      ["z".repeat(300)]: 1,
      list: [1],
      none: null,
      yes: true,
    };
    const [mine, others] = await keep(JSON.stringify({ json: { ...long, ...many, large } }), '{"json":1}');
    const { json } = JSON.parse(mine[0]);
    expect([Object.keys(json).length, json.n48, json.n49, mine[1], others]).toEqual([50, 48, undefined, null, null]);
    expect(Object.keys(json)[0]).toBe("fits");
  });
});

test("the same key of two users is two keys, and each gets the own answer", async () => {
  const client = await db.connect("request");
  const as = (user: User) => client.query("select set_config('svc.user_id', $1, true)", [user.id]);
  const claim = async () => (await client.query("select * from svc.claim_key('shared', 'call')")).rows;
  await client.query("begin");
  for (const user of [ann, bob]) {
    await as(user);
    expect(await claim()).toEqual([{ is_new: true, is_same: true, answers: null }]);
    await client.query("select svc.keep_answers('shared', $1)", [[JSON.stringify({ json: user.id })]]);
  }
  for (const user of [ann, bob]) {
    await as(user);
    expect(await claim()).toEqual([{ is_new: false, is_same: true, answers: [JSON.stringify({ json: user.id })] }]);
  }
  await client.query("rollback");
});
