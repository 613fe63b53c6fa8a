// If this file fails, an editor infers the types of all tables and procedures before it answers about one of them. The
// compiler then also reports circles in the files of lazy/.
import { expectTypeOf, test } from "vitest";
import type { OutputOf } from "../../client/sdk/src/index.ts";
import type { api } from "./lazy/api.ts";
import type { run, shown } from "./lazy/page.ts";
import type { later } from "./lazy/schema.ts";

test("a handler needs the types of the tables that it names", () => {
  expectTypeOf<NonNullable<(typeof later)["~svc"]["types"]>["output"]>().toEqualTypeOf<number>();
});

test("an operation of api has its type from the module that exports the procedure", () => {
  expectTypeOf<typeof shown>().toEqualTypeOf<Promise<number>>();
  expectTypeOf<OutputOf<(typeof api)["stones"]["last"]>>().toEqualTypeOf<number>();
});

test("an operation of api.workflows has its type without those of the application's procedures", () => {
  expectTypeOf<OutputOf<(typeof api)["stones"]["lastRun"]>>().toEqualTypeOf<Awaited<typeof run>>();
  expectTypeOf<Awaited<typeof run>>().toHaveProperty("steps");
});
