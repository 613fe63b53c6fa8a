// If this file fails, messages of two people as in docs/how-to/direct-messages.md are shown to others, or others are told of them.
import { expect, test } from "vitest";
import { documented } from "./documented.ts";

const { db, url, person, call, post, lint, startWorker } = documented("docs/how-to/direct-messages.md");
type Person = { token: string; user: { id: string } };
const three = (...names: string[]) => Promise.all(names.map(person)) as Promise<[Person, Person, Person]>;
const uuid = () => crypto.randomUUID();

async function upload(token: string, text: string): Promise<string> {
  const headers = { authorization: `Bearer ${token}`, "tus-resumable": "1.0.0" };
  const made = await fetch(`${url()}/api/storage/uploads`, {
    method: "POST",
    headers: { ...headers, "upload-length": `${text.length}` },
  });
  const place = new URL(made.headers.get("location") ?? "", url());
  const part = { ...headers, "upload-offset": "0", "content-type": "application/offset+octet-stream" };
  expect((await fetch(place, { method: "PATCH", headers: part, body: text })).status).toBe(204);
  return place.pathname.split("/").at(-1) ?? "";
}
const send = (from: Person, to: Person, more: object = {}) =>
  call("mutation", from.token, "messages.send", { id: uuid(), to: to.user.id, body: "the harbour opens", ...more });

test("both read a message by every way, and others by none", async () => {
  const [ann, bob, eve] = await three("ann", "bob", "eve");
  const { body: sent } = await send(ann, bob);
  const { id, pair } = sent.json;
  const sees = async ({ token, user }: Person, other: Person) => {
    const query = async (name: string, args = {}) => (await call("query", token, name, args)).body.json;
    const graphql = `{ list: messages { nodes { id } } one: message(id: "${id}") { id } }`;
    const { data } = (await post("/api/graphql", { query: graphql }, token)).body;
    const file = await fetch(`${url()}/api/export/messages.ndjson`, { headers: { authorization: `Bearer ${token}` } });
    return {
      list: (await query("messages.list")).total,
      search: (await query("messages.search", { person: other.user.id, words: "harbour" })).length,
      withPerson: (await query("messages.withPerson", { person: other.user.id })).data.length,
      get: (await query("messages.get", { id }))?.id ?? null,
      count: (await query("messages.aggregate", { groupBy: ["pair"], measures: ["count"] })).data,
      graphql: [data?.list?.nodes?.length, data?.one?.id ?? null],
      export: (await file.text()).split("\n").filter(Boolean).length,
      sql: (await asUser(user.id, "select id from public.messages")).length,
    };
  };
  const all = {
    list: 1,
    search: 1,
    withPerson: 1,
    get: id,
    count: [{ pair, count: 1 }],
    graphql: [1, id],
    export: 1,
    sql: 1,
  };
  expect(await sees(ann, bob)).toEqual(all);
  expect(await sees(bob, ann)).toEqual(all);
  const none = { list: 0, search: 0, withPerson: 0, get: null, count: [], graphql: [0, null], export: 0, sql: 0 };
  expect(await sees(eve, ann)).toEqual(none);
});

async function asUser(id: string, text: string): Promise<unknown[]> {
  const client = await db.connect("request");
  await client.query("begin");
  await client.query("select set_config('svc.user_id', $1, true), set_config('role', 'svc_authenticated', true)", [id]);
  const { rows } = await client.query(text).finally(() => client.query("rollback"));
  return rows;
}

test("only the sender changes and removes it, and nobody writes as somebody else", async () => {
  const [ann, bob, eve] = await three("amy", "ben", "eli");
  const { id } = (await send(ann, bob)).body.json;
  for (const { token } of [bob, eve]) {
    expect((await call("mutation", token, "messages.update", { id, body: "forged" })).status).toBe(404);
    expect((await call("mutation", token, "messages.remove", { id })).status).toBe(404);
    const update = `mutation { updateMessage(id: "${id}", patch: { body: "forged" }) { id } }`;
    expect((await post("/api/graphql", { query: update }, token)).body.errors).toMatchObject([
      { path: ["updateMessage"] },
    ]);
  }
  const insert = "insert into public.messages (user_id, recipient_id, body) values";
  await expect(asUser(eve.user.id, `${insert} ('${ann.user.id}', '${bob.user.id}', 'forged')`)).rejects.toThrow(
    "policy",
  );
  expect((await call("mutation", ann.token, "messages.update", { id, body: "edited" })).status).toBe(200);
  expect((await call("query", bob.token, "messages.get", { id })).body.json.body).toBe("edited");
  expect((await call("mutation", ann.token, "messages.remove", { id })).status).toBe(200);
  expect((await call("query", bob.token, "messages.list")).body.json.total).toBe(0);
});

test("a message that is sent twice is there once, and the id of another one tells nothing", async () => {
  const [ann, bob, eve] = await three("ada", "bo", "eda");
  const message = { id: uuid() };
  const answers = [await send(ann, bob, message), await send(ann, bob, message)];
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect((await call("query", bob.token, "messages.list")).body.json.total).toBe(1);
  const { status, body } = await send(eve, bob, message);
  expect([status, body.error]).toEqual([409, "There is another message with this id."]);
});

test("who is blocked sends nothing by any way, and moves no message there", async () => {
  const [ann, bob, eve] = await three("alma", "bert", "ella");
  const { id } = (await send(eve, ann)).body.json;
  expect((await call("mutation", bob.token, "blocks.create", { person: eve.user.id })).status).toBe(200);
  expect((await send(eve, bob)).status).toBe(403);
  const message = { recipientId: bob.user.id, body: "hi" };
  expect((await call("mutation", eve.token, "messages.create", message)).status).toBe(403);
  expect((await call("mutation", eve.token, "messages.update", { id, recipientId: bob.user.id })).status).toBe(403);
  await startWorker();
  const storageId = await upload(eve.token, `recipientId,body\n${bob.user.id},imported\n${ann.user.id},imported`);
  const run = (await call("mutation", eve.token, "messages.import", { storageId, format: "csv" })).body.json.id;
  await expect
    .poll(async () => (await call("query", eve.token, "workflows.get", { id: run })).body.json.status, {
      timeout: 30_000,
    })
    .toBe("completed");
  expect((await call("query", bob.token, "messages.list")).body.json.total).toBe(0);
  expect((await call("query", eve.token, "blocks.list")).body.json.total).toBe(0);
  expect((await send(ann, bob)).status).toBe(200);
});

test("the recipient reads an attachment until the message is gone, and others never do", async () => {
  const [ann, bob, eve] = await three("anna", "bill", "eva");
  const [file, theirs] = [await upload(ann.token, "plan"), await upload(eve.token, "secret")];
  expect((await send(ann, bob, { storageId: theirs })).status).toBe(404);
  const message = { recipientId: bob.user.id, body: "look", storageId: theirs };
  expect((await call("mutation", ann.token, "messages.create", message)).status).toBe(403);
  const { id } = (await send(ann, bob, { storageId: file })).body.json;
  expect((await call("query", eve.token, "messages.attachment", { id })).status).toBe(404);
  const grant = (await call("query", bob.token, "messages.attachment", { id })).body.json.url;
  const read = async () => (await fetch(url() + grant)).status;
  expect(await read()).toBe(200);
  await call("mutation", ann.token, "messages.remove", { id });
  expect(await read()).toBe(404);
});

test("a watched search follows the messages, and says of no table that it is missed", async () => {
  const [ann, bob] = await three("abby", "bart", "enid");
  await send(ann, bob);
  const args = { person: bob.user.id, words: "harbour" };
  const { body } = await post("/api/query", { name: "messages.search", args, watch: true }, ann.token);
  expect(body).toMatchObject({ json: [{ body: "the harbour opens" }], follows: expect.any(String) });
  expect(body).not.toHaveProperty("notice");
});

test("unread messages are counted for the recipient, whatever is read, sent and removed at the same time", async () => {
  const [ann, bob, eve] = await three("aida", "bela", "erna");
  const listed = async ({ token }: Person) =>
    (await call("query", token, "conversations.list", { orderBy: "lastAt" })).body.json.data.map(
      ({ person: other, unread }: { person: string; unread: number }) => [other, unread],
    );
  const read = (by: Person, of: Person, until: string) =>
    call("mutation", by.token, "conversations.markRead", { person: of.user.id, until });
  const first = (await send(ann, bob)).body.json;
  const second = (await send(ann, bob)).body.json;
  expect([await listed(ann), await listed(bob), await listed(eve)]).toEqual([
    [[bob.user.id, 0]],
    [[ann.user.id, 2]],
    [],
  ]);
  expect((await read(bob, ann, second.createdAt)).body.json).toEqual({ unread: 0 });
  expect((await read(bob, ann, first.createdAt)).body.json).toEqual({ unread: 0 });
  const third = (await send(ann, bob)).body.json;
  await send(eve, bob);
  expect(await listed(bob)).toEqual([
    [eve.user.id, 1],
    [ann.user.id, 1],
  ]);
  for (const { user } of [eve, bob]) // edited, and moved there and back
    await call("mutation", ann.token, "messages.update", { id: third.id, recipientId: user.id, body: "edited" });
  for (const { id } of [first, third])
    expect((await call("mutation", ann.token, "messages.update", { id, body: "again" })).status).toBe(200);
  expect(await listed(bob)).toContainEqual([ann.user.id, 1]);
  expect(await listed(eve)).toContainEqual([ann.user.id, 0]);
  for (const { id } of [third, second]) await call("mutation", ann.token, "messages.remove", { id });
  expect(await listed(bob)).toContainEqual([ann.user.id, 0]);
  // Both directions, and marks, at once: nothing waits for ever, and the count is that of the messages.
  const all = Array.from({ length: 8 }, () => [send(ann, bob), send(bob, ann), read(bob, ann, third.createdAt)]);
  for (const { status } of await Promise.all(all.flat())) expect(status).toBe(200);
  const [{ n } = { n: 0 }] = await db.sql<{ n: number }>(
    "select count(*)::int as n from messages where user_id = $1 and recipient_id = $2 and created_at > $3",
    [ann.user.id, bob.user.id, third.createdAt],
  );
  expect(await listed(bob)).toContainEqual([ann.user.id, n]);
  const write = `update public.conversations set unread = 0 where user_id = '${bob.user.id}' returning id`;
  await expect(asUser(bob.user.id, write)).rejects.toThrow("permission denied");
});

test("the messages of a deleted account stay with the other person, and its files go", async () => {
  const [ann, bob] = await three("aina", "benno", "elsa");
  const { id } = (await send(ann, bob, { storageId: await upload(ann.token, "plan") })).body.json;
  const grant = (await call("query", bob.token, "messages.attachment", { id })).body.json.url;
  expect((await post("/api/auth/delete-user", { password: "correct horse" }, ann.token)).status).toBe(200);
  expect((await call("query", bob.token, "messages.get", { id })).body.json.body).toBe("the harbour opens");
  expect((await fetch(url() + grant)).status).toBe(404);
});

test("the linter has nothing against it", async () => expect(await lint()).toEqual([]));
