// If this file fails, a RegExp of a call whose pattern is invalid fails in the handler at its first use, with 500.
import { expect, test } from "vitest";
import { procedure } from "../fixture/backend/index.ts";
import { database } from "../support/database.ts";
import { apiWith, service } from "../support/service.ts";

const echo = procedure.mutation
  .name("wire.echo")
  .allowAnonymous()
  .handler(async ({ input }) => input);
const svc = service(database(), apiWith({ procedures: { echo } }));

test.for(["/(/", "/a/gg", "/[z-a]/"])("a RegExp that is invalid is refused: %s", async (json) => {
  const encoded = { json: { a: [json] }, meta: [[5, "a", 0]] };
  const whole = { json: { name: "wire.echo", args: { a: [json] } }, meta: [[5, "args", "a", 0]] };
  for (const answer of [await svc.mutate(null, "wire.echo", encoded), await svc.post("/api/mutation", whole)]) {
    expect({ status: answer.status, code: answer.body.code }).toEqual({ status: 400, code: "BAD_REQUEST" });
  }
});
