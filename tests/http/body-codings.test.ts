// If this file fails, encoded bytes of a body are read as plain ones, or a body that says it is plain is refused.
import { expect, test } from "vitest";
import { database } from "../support/database.ts";
import { rawRequest } from "../support/raw-http.ts";
import { service } from "../support/service.ts";

const svc = service(database());

test("a body in another transfer coding than chunks is refused", async () => {
  const headers = [
    ["Content-Type", "application/json"],
    ["Transfer-Encoding", "gzip, chunked"],
  ] as const;
  const answer = await rawRequest(svc.url, { method: "POST", path: "/api/query", headers });
  expect([answer.status, answer.body]).toEqual([
    415,
    expect.stringContaining("The only transfer-encoding is chunked."),
  ]);
});

test.for(["Identity", "identity", " "])("a body whose content coding is %j is read", async (coding) => {
  const headers = { "content-type": "application/json", "content-encoding": coding };
  const body = '{"name":"guestbook.list"}';
  expect((await svc.fetch("/api/query", { method: "POST", body, headers })).status).toBe(200);
});
