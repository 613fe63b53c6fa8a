// If this file fails, a shop as in docs/how-to/shop.md sells what it does not have, twice, or to others.
import { createHmac, randomUUID } from "node:crypto";
import { createTestApp, type TestApp } from "@svc/testing";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { testServer } from "../support/test-server.ts";
import { documented } from "./documented.ts";

const { db, folder, lint } = documented("docs/how-to/shop.md");
// biome-ignore lint/suspicious/noExplicitAny: the page's own references, written while the test runs
type Any = any;
let api: Any;
let app: TestApp<Any>;
beforeAll(async () => {
  testServer(db);
  vi.stubEnv("PAYMENTS_SECRET", "secret");
  api = (await import(`${folder}/web/svc/api.ts`)).api;
  app = await createTestApp({ api, cwd: folder, log: "silent" });
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await app?.close();
});

const addProduct = async (stock: number, price = 250) =>
  (
    await app.sql<{ id: number }>(
      `insert into products (name, price_minor, stock) values ('Boat', ${price}, ${stock}) returning id`,
    )
  )[0]?.id as number;
const stockOf = async (id: number) =>
  (await app.sql<{ stock: number }>(`select stock from products where id = ${id}`))[0]?.stock;
const person = async (): Promise<Any> => app.asUser();
const visitor = (): Any => app.anonymous();
async function buyer(productId: number, quantity = 1): Promise<Any> {
  const user = await person();
  await user.mutate(api.cart.put, { key: randomUUID(), productId, quantity });
  return user;
}
const pay = (event: object | string, secret = "secret") => {
  const body = typeof event === "string" ? event : JSON.stringify(event);
  const signature = createHmac("sha256", secret).update(body).digest("hex");
  return fetch(`${app.url}/api/hooks/payments`, { method: "POST", body, headers: { "x-signature": signature } });
};
const statusOf = async (user: Any, id: string) => (await user.query(api.orders.get, { id })).status;

test("of fifty who buy at once, as many get one as there are, and the others hear why not", async () => {
  const product = await addProduct(20);
  const people = await Promise.all(Array.from({ length: 50 }, () => buyer(product)));
  const answers = await Promise.allSettled(people.map((one) => one.mutate(api.orders.checkout, { key: randomUUID() })));
  const refused = answers.flatMap((answer) => (answer.status === "rejected" ? [answer.reason] : []));
  expect(refused.map(({ code, message }) => `${code} ${message}`)).toEqual(
    Array(30).fill('CONFLICT Not enough of "Boat" is left.'),
  );
  expect(await stockOf(product)).toBe(0);
});

test("a call that is repeated gives one order, also at the same moment; another key has nothing left to order", async () => {
  const product = await addProduct(10);
  const ann = await buyer(product, 3);
  const key = randomUUID();
  const made = await Promise.all(Array.from({ length: 8 }, () => ann.mutate(api.orders.checkout, { key })));
  expect(new Set(made.map(({ id }) => id)).size).toBe(1);
  await expect(ann.mutate(api.orders.checkout, { key: randomUUID() })).rejects.toMatchObject({
    message: "The cart is empty.",
  });
  const { data } = await ann.query(api.orders.list, { include: { lines: true } });
  expect(data).toMatchObject([{ totalMinor: 750, lines: [{ productId: product, quantity: 3, priceMinor: 250 }] }]);
  expect(await stockOf(product)).toBe(7);
  expect((await (await person()).query(api.orders.list)).total).toBe(0);
});

test("a checkout that is refused leaves the cart, the stock and its key as they were", async () => {
  const [much, little] = [await addProduct(5), await addProduct(1)];
  const ann = await buyer(much, 2);
  await ann.mutate(api.cart.put, { key: randomUUID(), productId: little, quantity: 2 });
  const key = randomUUID();
  await expect(ann.mutate(api.orders.checkout, { key })).rejects.toMatchObject({ code: "CONFLICT" });
  expect([await stockOf(much), await stockOf(little)]).toEqual([5, 1]);
  await ann.mutate(api.cart.put, { key: randomUUID(), productId: little, quantity: 1 });
  await ann.mutate(api.orders.checkout, { key });
  expect([await stockOf(much), await stockOf(little)]).toEqual([3, 0]);
});

test("a guest's cart is the user's after the sign-up, and belongs to its key alone", async () => {
  const [one, other] = [await addProduct(9), await addProduct(9)];
  const guest = visitor();
  const key = randomUUID();
  await guest.mutate(api.cart.put, { key, productId: one, quantity: 2 });
  const inCart = async (user: Any, key = randomUUID() as string) =>
    (await user.query(api.cart.show, { key })).map(({ id, quantity }: { id: number; quantity: number }) => [
      id,
      quantity,
    ]);
  expect([await inCart(guest, key), await inCart(guest)]).toEqual([[[one, 2]], []]);

  await guest.mutate(api.cart.put, { key, productId: other, quantity: 1 });
  await guest.mutate(api.cart.put, { key, productId: other, quantity: 0 });
  expect(await inCart(guest, key)).toEqual([[one, 2]]);

  await guest.auth.signUp("guest@example.com", "correct horse", "Guest");
  await guest.mutate(api.cart.put, { key, productId: other, quantity: 1 });
  await guest.mutate(api.cart.put, { key, productId: one, quantity: 1 });
  await guest.mutate(api.cart.take, { key });
  await guest.mutate(api.cart.take, { key });
  const third = await addProduct(9);
  for (const quantity of [5, 0]) await guest.mutate(api.cart.put, { key, productId: third, quantity });
  expect((await inCart(guest)).sort()).toEqual(
    [
      [one, 2],
      [other, 1],
    ].sort(),
  );
  expect(await inCart(visitor(), key)).toEqual([]);
});

test("a payment counts once, whatever the payment service repeats, and only with its signature and amount", async () => {
  const product = await addProduct(5);
  const ann = await buyer(product, 2);
  const { id: orderId } = await ann.mutate(api.orders.checkout, { key: randomUUID() });
  const event = { id: randomUUID(), orderId, amountMinor: 500 };
  expect((await pay(event, "a guess")).status).toBe(401);
  await pay({ ...event, id: randomUUID(), amountMinor: 1 });
  await app.flushJobs();
  expect(await statusOf(ann, orderId)).toBe("unpaid");
  expect([(await pay(event)).status, (await pay(event)).status]).toEqual([202, 202]);
  await app.flushJobs();
  expect(await statusOf(ann, orderId)).toBe("paid");
  expect(await app.sql(`select count(*)::int from payments where id = '${event.id}'`)).toEqual([{ count: 1 }]);
});

test("an event of another kind is accepted, so that the payment service does not repeat it, and changes nothing", async () => {
  expect((await pay({ id: randomUUID(), type: "payout.created" }, "a guess")).status).toBe(401);
  expect((await pay({ id: randomUUID(), type: "payout.created" })).status).toBe(202);
  expect((await app.flushJobs()).ran).toBe(0);
});

test("a signed event that is not JSON is the sender's mistake", async () => {
  expect((await pay("paid")).status).toBe(400);
});

test("carts of deleted users and old carts of guests are forgotten, and others stay", async () => {
  const product = await addProduct(9);
  const [ann, bob] = [await buyer(product), await buyer(product)];
  const [old, young] = [randomUUID(), randomUUID()];
  for (const key of [old, young]) await visitor().mutate(api.cart.put, { key, productId: product, quantity: 1 });
  await app.sql("update cart_lines set created_at = now() - interval '31 days' where user_id <> $1", [
    `guest:${young}`,
  ]);
  await app.sql('delete from auth."user" where id = $1', [bob.user.id]);
  await app.enqueueCron("shop.everyMinute");
  await app.flushJobs();
  const left = await app.sql<{ user_id: string }>("select user_id from cart_lines where product_id = $1", [product]);
  expect(left.map(({ user_id }) => user_id).sort()).toEqual([ann.user.id, `guest:${young}`].sort());
});

test("an order that nobody pays gives its stock back, once, and takes no payment after that", async () => {
  const product = await addProduct(5);
  const ann = await buyer(product, 2);
  const { id: orderId } = await ann.mutate(api.orders.checkout, { key: randomUUID() });
  await app.sql(`update orders set created_at = now() - interval '31 minutes' where id = '${orderId}'`);
  for (let run = 0; run < 2; run++) {
    await app.enqueueCron("shop.everyMinute");
    await app.flushJobs();
  }
  expect(await stockOf(product)).toBe(5);
  await pay({ id: randomUUID(), orderId, amountMinor: 500 });
  await app.flushJobs();
  expect(await statusOf(ann, orderId)).toBe("expired");
});

test("the linter has nothing against it", async () => {
  expect(await lint()).toEqual([]);
});
