/** If these fail, an application cannot write functions of its own around those of svc: a type parameter is refused. */
import { pgTable, text } from "drizzle-orm/pg-core";
import { expectTypeOf, it } from "vitest";
import { type Context, type CrudOptions, createSvc, defineApi, ownerRls, type Procedure, v } from "../../src/index.ts";

const notes = pgTable("notes", { id: text("id").primaryKey(), userId: text("user_id").notNull() }, (t) =>
  ownerRls(t.userId),
);
const { createCrud, procedure } = createSvc({ schema: { notes } });
const nag = procedure.internal.input(v.object({ id: v.string() })).handler(() => {});

it("createCrud with options of a function", () => {
  const listed = <const O extends CrudOptions<typeof notes>>(options: O) =>
    createCrud(notes, { ...options, many: true });
  expectTypeOf(listed({ upsertBy: ["id"] })).toHaveProperty("upsert");
  expectTypeOf(listed({})).toHaveProperty("createMany");
});

it("defineApi with procedures of a function", () => {
  const build = <P extends Record<string, Procedure>>(procedures: P) => defineApi({ procedures });
  type Built = NonNullable<ReturnType<typeof build<{ nag: typeof nag }>>["~svc"]["types"]>;
  expectTypeOf<Built>().toHaveProperty("nag");
});

it("the scheduler with a procedure of a function", () => {
  const later = <P extends typeof nag>({ scheduler }: Context, job: P) => scheduler.runAfter(1_000, job, { id: "1" });
  const either = ({ scheduler }: Context, job: typeof nag | string) => scheduler.runAfter(1_000, job, { id: "1" });
  expectTypeOf(later).returns.resolves.toBeString();
  expectTypeOf(either).returns.resolves.toBeString();
});
