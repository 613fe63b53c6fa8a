// If this file fails, an export as in docs/how-to/personal-data.md shows data of others, or something of a forgotten person stays.
import { createTestApp, type TestApp } from "@svc/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { testServer } from "../support/test-server.ts";
import { documented } from "./documented.ts";

const { db, folder, lint } = documented("docs/how-to/personal-data.md");
// biome-ignore lint/suspicious/noExplicitAny: the page's own references, written while the test runs
type Any = any;
let api: Any;
let app: TestApp<Any>;
let [staff, ann, bob]: Any[] = [];
beforeAll(async () => {
  testServer(db);
  api = (await import(`${folder}/web/svc/api.ts`)).api;
  app = await createTestApp({ api, cwd: folder, log: "silent" });
  [staff, ann, bob] = await Promise.all(["sue", "ann", "bob"].map((name) => app.asUser({ name })));
  await app.sql("insert into staff_members values ($1)", [staff.user.id]);
});
afterAll(() => app?.close());

/** A customer with a visit, its photo, a run of the system about it, and an invoice. */
async function customer(name: string, accountId?: string) {
  const row = { name, email: `${name}@customers.example`, ...(accountId && { accountId }) };
  const { id } = await staff.mutate(api.customers.create, row);
  const { id: storageId } = await staff.upload(new File(["a photo"], "boiler.txt", { type: "text/plain" }));
  const [run] = await app.sql<{ id: string }>(
    `insert into svc.workflow_runs (name, version, status, args, finished_at)
     values ('about', 1, 'completed', to_json($1::text), now()) returning id`,
    [row.email],
  );
  const visit = await staff.mutate(api.visits.create, { customerId: id, title: "Boiler", runId: run?.id });
  await staff.mutate(api.photos.create, { visitId: visit.id, storageId });
  await staff.mutate(api.invoices.create, { customerId: id, billedTo: `${name}, Long Road 1`, totalMinor: 100 });
  return { id, storageId };
}
const exportOf = (who: Any, id: string) => who.fetch(`/api/customers/${id}/data.json`);

test("customers export their own data, with the photos, staff anybody's, and nobody those of others", async () => {
  const { id } = await customer("ann", ann.user.id);
  for (const who of [ann, staff]) {
    const { customer, visits, invoices, photos } = await (await exportOf(who, id)).json();
    expect([customer.email, visits.length, invoices.length]).toEqual(["ann@customers.example", 1, 1]);
    expect(await (await fetch(new URL(photos[0], app.url))).text()).toBe("a photo");
  }
  expect((await exportOf(bob, id)).status).toBe(404);
  expect((await exportOf(ann, "nonsense")).status).toBe(404);
  await expect(bob.mutate(api.customers.forget, { id })).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("of a forgotten customer the invoice stays, and nothing else in any table", async () => {
  const kept = await customer("cyd");
  const gone = await customer("bob", bob.user.id);
  await bob.mutate(api.customers.forget, { id: gone.id });
  await app.flushJobs();

  expect(await app.sql("select customer_id, billed_to from invoices where billed_to like 'bob%'")).toEqual([
    { customer_id: null, billed_to: "bob, Long Road 1" },
  ]);
  const tables = await app.sql<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
      where schemaname in ('public', 'svc', 'svc_private', 'auth', 'graphile_worker') and tablename <> 'invoices'`,
  );
  /** Tables with a row that has the text anywhere. */
  const found = async (text: string) => {
    const look = tables.map(({ name }) =>
      app.sql(`select distinct '${name}' as name from ${name} as t where t::text like $1`, [`%${text}%`]),
    );
    return (await Promise.all(look)).flat();
  };
  for (const text of ["bob@customers.example", bob.user.id, bob.user.email, gone.id, gone.storageId]) {
    expect([text, await found(text)]).toEqual([text, []]);
  }
  expect(await found("cyd@customers.example")).toHaveLength(2); // the row and the run
  await expect(bob.query(api.customers.list)).rejects.toMatchObject({ code: "UNAUTHORIZED" });
  expect((await exportOf(staff, kept.id)).status).toBe(200);
});

test("nothing on the page worries the linter", async () => {
  expect(await lint()).toEqual([]);
});
