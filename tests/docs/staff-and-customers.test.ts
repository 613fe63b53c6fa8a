// If this file fails, a shop built as in docs/how-to/staff-and-customers.md sells missing goods, or shows orders to
// strangers.
import { expect, test } from "vitest";
import { documented } from "./documented.ts";

const { db, person, call, lint } = documented("docs/how-to/staff-and-customers.md");

test("staff keeps the products, customers buy what is there, and each sees what is theirs", async () => {
  const [ann, bob, cleo] = await Promise.all([person("ann"), person("bob"), person("cleo")]);
  const admin = await db.connect("admin");
  await admin.query("insert into public.staff values ($1)", [ann.user.id]);

  const refused = await call("mutation", bob.token, "products.create", { name: "Tea", stock: 3 });
  expect(refused.status).toBe(403);
  const { body } = await call("mutation", ann.token, "products.create", { name: "Tea", stock: 3 });
  const tea = body.json.id;
  expect((await call("mutation", bob.token, "products.update", { id: tea, stock: 9 })).status).toBe(404);

  const buyers = [bob, cleo, bob, cleo, bob, cleo, bob];
  const placed = await Promise.all(
    buyers.map(({ token }) => call("mutation", token, "orders.place", { productId: tea, quantity: 1 })),
  );
  expect(placed.map(({ status }) => status).sort()).toEqual([200, 200, 200, 409, 409, 409, 409]);
  expect((await call("query", bob.token, "products.get", { id: tea })).body.json.stock).toBe(0);

  const totals = await Promise.all(
    [ann, bob, cleo].map(async ({ token }) => (await call("query", token, "orders.list")).body.json.total),
  );
  expect(totals[0]).toBe(3);
  expect(totals[1] + totals[2]).toBe(3);
  // A negative quantity would increase the stock.
  expect((await call("mutation", bob.token, "orders.place", { productId: tea, quantity: -5 })).status).toBe(409);
});

test("the linter has nothing against it", async () => expect(await lint()).toEqual([]));
