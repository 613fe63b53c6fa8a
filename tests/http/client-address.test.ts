// If this file fails, a handler takes the address that a client claims, or the proxy's, for the client's.
import { expect, test } from "vitest";
import { createSvcProcedureBuilders } from "../../src/contract/procedure.ts";
import { database } from "../support/database.ts";
import { apiWith, service, TestService } from "../support/service.ts";

const { query, mutation } = createSvcProcedureBuilders();
const read = query
  .name("test.read")
  .allowAnonymous()
  .handler(({ context }) => context.address);
const write = mutation
  .name("test.write")
  .allowAnonymous()
  .handler(({ context }) => context.address);
const db = database();
const api = apiWith({ procedures: { read, write } });
const behindProxy = service(db, api, { trustProxy: 1 });

const addresses = async (app: TestService) => {
  const ask = async (path: string, body: object) => {
    const headers = { "content-type": "application/json", "x-forwarded-for": "203.0.113.9, 192.0.2.7" };
    return (await app.fetch(path, { method: "POST", headers, body: JSON.stringify(body) })).body;
  };
  return [
    (await ask("/api/query", { name: "test.read" })).json,
    (await ask("/api/mutation", { name: "test.write" })).json,
    (await ask("/api/batch", { calls: [{ name: "test.write" }] })).results[0].json,
  ];
};

test("handlers get the address that the trusted proxy saw, not what the client claims", async () => {
  expect(await addresses(behindProxy)).toEqual(["192.0.2.7", "192.0.2.7", "192.0.2.7"]);
  const direct = new TestService(db, api, {});
  await direct.start();
  const [first, ...others] = await addresses(direct);
  expect(first).toMatch(/^(::ffff:)?127\.0\.0\.1$|^::1$/);
  expect(others).toEqual([first, first]);
  await direct.stop();
});
