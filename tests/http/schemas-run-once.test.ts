// If this file fails, a check of the input that asks a database or another service asks twice, and an error of the one that nobody
// awaits ends the process.
import { expect, test } from "vitest";
import { z } from "zod";
import * as mini from "zod/mini";
import { v } from "../../src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import { database } from "../support/database.ts";
import { apiWith, service } from "../support/service.ts";

let runs = 0;
const isFree = async (name: string) => {
  runs++;
  await null;
  if (name === "broken") throw new Error("the other service is away");
  return name !== "taken";
};
const upper = async (name: string) => {
  runs++;
  return name.toUpperCase();
};
// Not marked as asynchronous, and behind what zod resolves late.
const name = z.object({ name: z.string().refine((given) => isFree(given)) });
const lazy: z.ZodType<{ name: string }> = z.lazy(() => z.union([name, z.object({ name: z.never() })]));

const schemas = {
  refined: name,
  transformed: z.object({ name: z.string().transform(upper) }),
  piped: z.object({
    name: z.string().pipe(z.preprocess((given) => isFree(String(given)).then(() => given), z.string())),
  }),
  lazy,
  ofMini: mini.object({ name: mini.string().check(mini.refine(isFree)) }),
  within: v.object({ name: v.optional(name.shape.name) }),
  inRecords: z.record(z.string(), z.array(z.string().refine(isFree)).or(z.string().refine(isFree))),
} as const;
const procedures = Object.fromEntries(
  Object.entries(schemas).map(([key, schema]) => [
    key,
    procedure.query
      .name(`once.${key}`)
      .allowAnonymous()
      .input(schema)
      .handler(({ input }) => input),
  ]),
);
const app = service(database(), apiWith({ procedures }));

test.for(Object.keys(schemas))("the code of a schema runs once: %s", async (key) => {
  for (let nth = 0; nth < 2; nth++) {
    runs = 0;
    const { status, body } = await app.query(null, `once.${key}`, { name: "ann" });
    expect([status, body.json.name.toLowerCase(), runs]).toEqual([200, "ann", 1]);
  }
});

test("it refuses once, too, and its error is one answer", async () => {
  runs = 0;
  const refused = await app.query(null, "once.refined", { name: "taken" });
  expect([refused.status, refused.body.issues, runs]).toEqual([400, [{ path: ["name"], message: "Invalid input" }], 1]);
  expect((await app.query(null, "once.refined", { name: "broken" })).status).toBe(500);
  expect(runs).toBe(2);
});
