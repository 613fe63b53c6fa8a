// If this file fails, a declared output or a malformed body is handled differently by kinds of calls.
import { type } from "arktype";
import * as valibot from "valibot";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createSvcHttpRouteBuilders, v } from "../../src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import { database } from "../support/database.ts";
import { apiWith, service } from "../support/service.ts";

const httpRoute = createSvcHttpRouteBuilders();
const vendors = {
  v: v.object({ n: v.number() }),
  zod: z.object({ n: z.number() }),
  valibot: valibot.object({ n: valibot.number() }),
  arktype: type({ n: "number" }),
};
const writing = ["post", "put", "patch"] as const;
const entries = Object.entries(vendors);

const procedures = Object.fromEntries(
  entries.map(([name, schema]) => [
    name,
    procedure.query
      .name(`output.${name}`)
      .allowAnonymous()
      .output(schema)
      .handler(({ input }) => input as { n: number }),
  ]),
);
const httpRoutes = Object.fromEntries([
  ...entries.map(([name, schema]) => [
    name,
    httpRoute.post
      .path(`/output/${name}`)
      .allowAnonymous()
      .output(schema)
      .handler(({ input }) => ({ body: input as { n: number } })),
  ]),
  ...writing.map((verb) => [verb, httpRoute[verb].path("/json").allowAnonymous().handler(({ input }) => ({ body: input }))]),
]); // biome-ignore format: a chain

const svc = service(database(), apiWith({ procedures, httpRoutes }));

test.for(Object.keys(vendors))(".output() takes schemas of %s", async (name) => {
  const good = { n: 1 };
  expect(await svc.query(null, `output.${name}`, good)).toMatchObject({ status: 200, body: { json: good } });
  expect(await svc.post(`/output/${name}`, good)).toMatchObject({ status: 200, body: good });
  const refused = { status: 500, body: { code: "OUTPUT_INVALID" } };
  expect(await svc.query(null, `output.${name}`, { n: "1" })).toMatchObject(refused);
  expect(await svc.post(`/output/${name}`, { n: "1" })).toMatchObject(refused);
});

describe.for(writing)("%s", (verb) => {
  test.for(["{", "{'a': 1}", "[1,]", "undefined"])("with a body that is no JSON says so: %s", async (body) => {
    const init = { method: verb.toUpperCase(), headers: { "content-type": "application/json" } };
    expect(await svc.fetch("/json", { ...init, body })).toMatchObject({
      status: 400,
      body: { error: "Invalid JSON body", code: "INVALID_JSON" },
    });
    expect(await svc.fetch("/json", { ...init, body: "[1]" })).toMatchObject({ status: 200, body: [1] });
  });
});
