// If this file fails, a program cannot use the SDK with an API key, or the SDK calls as somebody else than the key's user.
import { afterEach, expect, test } from "vitest";
import { createSvcClient, mutation, query, type SvcClient } from "../../client/sdk/src/index.ts";
import { keysWorld } from "../auth/api-keys-world.ts";
import { cutReader } from "../support/sockets.ts";

const world = keysWorld();
interface Ticket {
  title: string;
  userId: string;
}
/** As in a generated api.ts. */
type Typed<Input, Output> = { "~svc": { types?: { input: Input; output: Output } } };
const list = query<Typed<object | undefined, { data: Ticket[] }>>("tickets.list");
const create = mutation<Typed<{ title: string }, Ticket>>("tickets.create");
const open: SvcClient<object>[] = [];
afterEach(() => {
  for (const client of open.splice(0)) client.close();
});

function clientOf(apiKey: string) {
  const client = createSvcClient({ api: {}, baseUrl: world.app.url, apiKey });
  open.push(client);
  return client;
}
const titles = (page: { data: Ticket[] }) => page.data.map(({ title }) => title).sort();

test("calls, batches and uploads of a client with a key are those of the key's user and its scopes", async () => {
  const { ann, keys } = world;
  const [reader, everything] = [clientOf(keys.read.token), clientOf(keys.all.token)];
  expect(reader.auth).toBeUndefined();
  expect(titles(await reader.query(list))).toEqual(["of ann"]);
  await expect(reader.mutate(create, { title: "refused" })).rejects.toMatchObject({ code: "FORBIDDEN" });
  expect(await everything.mutate(create, { title: "by key" }, { retries: 1 })).toMatchObject({ userId: ann.id });
  await everything.batch([[create, { title: "by batch" }]]);
  expect(titles(await everything.query(list))).toEqual(["by batch", "by key", "of ann"]);
  const { id } = await everything.upload(new Blob(["a file"]));
  expect(await world.db.sql("select user_id from svc.storage_objects where id = $1", [id])).toEqual([
    { user_id: ann.id },
  ]);
});

test("what it watches follows changes, and ends with the key", async () => {
  const { bob } = world.keys;
  const client = clientOf(bob.token);
  const shown = { titles: [] as string[], errors: [] as unknown[] };
  client.watch(
    list,
    {},
    (page) => {
      shown.titles = titles(page);
    },
    (error) => shown.errors.push(error),
  );
  await expect.poll(() => client.realtime.getStatus()).toBe("live");
  await cutReader(world.db);
  await world.db.sql("insert into tickets (user_id, title) values ($1, 'new'), ($2, 'other')", [bob.id, world.ann.id]);
  await expect.poll(() => shown.titles).toEqual(["new", "of bob"]);
  await world.db.sql("update auth.api_key set expires_at = now() where user_id = $1", [bob.id]);
  await expect.poll(() => shown.errors.length, { timeout: 10_000 }).toBeGreaterThan(0);
  expect(shown.errors[0]).toMatchObject({ code: "UNAUTHORIZED" });
});

test.for<[string, object, RegExp]>([
  ["a variable that is not set", { apiKey: undefined }, /apiKey is not the text/],
  ["an empty text", { apiKey: "" }, /apiKey is not the text/],
  ["a text with a line end", { apiKey: "acme_secret\n" }, /^apiKey is not the text of an API key\. Is the variable/],
  ["a key beside a user", { apiKey: "acme_secret", auth: {} }, /auth or apiKey, not both/],
])("%s is refused at once, without telling the key", ([, options, message]) => {
  const make = () => createSvcClient({ api: {}, baseUrl: world.app.url, ...options });
  expect(make).toThrow(message);
  expect(make).not.toThrow(/secret/);
});
