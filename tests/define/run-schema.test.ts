// If this file fails, a call is refused, or never ends, because of the form of its schema: zod alone would take the input.
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { expect, test } from "vitest";
import { z } from "zod";
import * as mini from "zod/mini";
import { runSchema } from "../../src/kit/run-schema.ts";
import { v } from "../../src/kit/v.ts";

/** Each time that it is asked for, it is a new schema. */
const tree = (): z.ZodType => z.object({ name: z.string(), parts: z.array(z.lazy(() => tree())) });

const lowerKeys = mini.record(
  mini.pipe(
    mini.string(),
    mini.transform((key: string) => key.toLowerCase()),
  ),
  mini.string().check(mini.refine((text) => text !== "")),
);
const refined = z.string().refine((text) => text !== "");
/** What adds to a schema of zod, and names itself. */
const wrapped = Object.assign(refined.clone(), {
  "~standard": { version: 1, vendor: "acme", validate: () => ({ value: "of acme" }) },
});

const accepted: [name: string, schema: StandardSchemaV1, input: unknown, output: unknown][] = [
  ["a schema that makes itself anew", tree(), { name: "a", parts: [{ name: "b", parts: [] }] }, undefined],
  ["keys that are transformed", z.record(z.string().toLowerCase(), refined), { A: "x" }, { a: "x" }],
  ["keys that zod's mini variant transforms", lowerKeys, { A: "x" }, { a: "x" }],
  ["a wrapped schema", wrapped, "x", "of acme"],
];
test.each(accepted)("%s", async (_, schema, input, output = input) => {
  expect(await runSchema(schema, input)).toEqual({ value: output });
});

test("the function of a default runs for inputs without the value, and then once", async () => {
  let last = 0;
  const numbered = z.object({ number: z.number().default(() => ++last), text: refined });
  expect(await runSchema(numbered, { text: "a", number: 7 })).toEqual({ value: { text: "a", number: 7 } });
  expect(await runSchema(numbered, { text: "a" })).toEqual({ value: { text: "a", number: 1 } });
});

test("an array of many wrong elements is checked to its hundredth issue, not to its end", async () => {
  let checked = 0;
  const counted = z.any().refine(() => ++checked < 0);
  const { issues } = await runSchema(v.array(counted), Array(10_000).fill(1));
  expect([issues?.length, checked]).toEqual([100, 100]);
});

test("an array with few of them is checked to its end, and keeps its order", async () => {
  const input = Array.from({ length: 250 }, (_, at) => `${at}`);
  expect(await runSchema(v.array(refined), input)).toEqual({ value: input });
  const { issues } = await runSchema(v.array(refined), [...input, "", ...input, ""]);
  expect(issues?.map(({ path }) => path)).toEqual([[250], [501]]);
});
