// If this file fails, a call with an idempotency key is answered as another one, whose arguments have the same JSON.
import { beforeAll, expect, test } from "vitest";
import { procedure } from "../fixture/backend/index.ts";
import { database } from "../support/database.ts";
import { apiWith, bearer, service, type User } from "../support/service.ts";

const visit = procedure.mutation.name("orders.visit").handler(() => 1);
const svc = service(database(), apiWith({ procedures: { visit } }));
let ann: User;
beforeAll(async () => {
  ann = await svc.signUp("ann");
});

test("a date is not the text that it is sent as", async () => {
  const send = async (meta: unknown[]) => {
    const { status } = await svc.fetch("/api/mutation", {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": "one", ...bearer(ann) },
      body: JSON.stringify({
        json: { name: "orders.visit", args: { at: "2026-01-02T03:04:05.678Z" } },
        meta,
        maps: [],
      }),
    });
    return status;
  };
  const asDate = [[1, "args", "at"]];
  expect([await send(asDate), await send([]), await send(asDate)]).toEqual([200, 409, 200]);
});
