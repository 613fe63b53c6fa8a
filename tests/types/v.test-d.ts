/** If these fail, an author's handler sees `any`, or an optional argument becomes a required one. */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { type } from "arktype";
import * as valibot from "valibot";
import { describe, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { type Infer, toSchema, v } from "../../src/kit/v.ts";

type Input<Of extends StandardSchemaV1> = StandardSchemaV1.InferInput<Of>;

describe("v", () => {
  it("infers the leaves", () => {
    const leaves = [v.string(), v.number(), v.boolean(), v.file(), v.optional(v.string())] as const;
    expectTypeOf<Infer<(typeof leaves)[0]>>().toEqualTypeOf<string>();
    expectTypeOf<Infer<(typeof leaves)[1]>>().toEqualTypeOf<number>();
    expectTypeOf<Infer<(typeof leaves)[2]>>().toEqualTypeOf<boolean>();
    expectTypeOf<Infer<(typeof leaves)[3]>>().toEqualTypeOf<File>();
    expectTypeOf<Infer<(typeof leaves)[4]>>().toEqualTypeOf<string | undefined>();
    expectTypeOf(v.any()["~standard"]).toExtend<StandardSchemaV1.Props<unknown, unknown>>();
    expectTypeOf<Infer<ReturnType<typeof v.any>>>().toBeAny();
  });

  it("makes optional keys of optional members, at every depth", () => {
    const order = v.object({ note: v.optional(v.string()), lines: v.array(v.object({ n: v.optional(v.number()) })) });
    expectTypeOf<Infer<typeof order>>().toEqualTypeOf<{
      note?: string | undefined;
      lines: { n?: number | undefined }[];
    }>();
    expectTypeOf<Input<typeof order>>().toEqualTypeOf<Infer<typeof order>>();
    expectTypeOf<{ lines: [] }>().toExtend<Infer<typeof order>>();
    expectTypeOf<{ note: string }>().not.toExtend<Infer<typeof order>>();
  });

  it("keeps input and output apart where another vendor transforms", () => {
    const args = v.object({ limit: z.number().default(20), at: z.string().transform((text) => new Date(text)) });
    expectTypeOf<Input<typeof args>>().toEqualTypeOf<{ limit?: number | undefined; at: string }>();
    expectTypeOf<Infer<typeof args>>().toEqualTypeOf<{ limit: number; at: Date }>();
  });

  it("refuses members that are no schema", () => {
    // @ts-expect-error a constructor is no schema
    expectTypeOf(v.object).toBeCallableWith({ a: String });
    // @ts-expect-error an array needs to know its items
    expectTypeOf(v.array).toBeCallableWith();
  });
});

describe("toSchema", () => {
  it("infers a map of mixed vendors", () => {
    const args = toSchema({
      a: v.number(),
      b: z.string(),
      c: valibot.optional(valibot.boolean()),
      d: type("number[]"),
    });
    expectTypeOf<Infer<typeof args>>().toEqualTypeOf<{ a: number; b: string; c?: boolean | undefined; d: number[] }>();
  });

  it("leaves a schema's own type alone", () => {
    const schema = z.object({ a: z.number() });
    expectTypeOf(toSchema(schema)).toEqualTypeOf<typeof schema>();
  });
});
