/** If these fail, trusted code may write a value of a wrong type, or does not see that a value may be missing. */
import { boolean, pgSchema, text } from "drizzle-orm/pg-core";
import { describe, expectTypeOf, it } from "vitest";
import type { Context } from "../../src/index.ts";
import { type session, user } from "../fixture/backend/generated/auth-schema.ts";

/** As `svc codegen` writes additional fields. */
const people = pgSchema("auth").table("user", {
  id: text("id").primaryKey(),
  role: text("role").default("member"),
  isBeta: boolean("is_beta").default(false),
});

declare const ctx: Context<{ people: typeof people }>;

describe("the generated auth schema", () => {
  it("types rows as the database has them", () => {
    expectTypeOf<typeof user.$inferSelect>().toEqualTypeOf<{
      id: string;
      name: string;
      email: string;
      emailVerified: boolean;
      image: string | null;
      createdAt: Date;
      updatedAt: Date;
    }>();
    expectTypeOf<(typeof session.$inferSelect)["userId"]>().toBeString();
    expectTypeOf<(typeof people.$inferSelect)["role"]>().toEqualTypeOf<string | null>();
  });

  it("takes in an update what its columns take", () => {
    ctx.unsafeDb.update(people).set({ role: "admin", isBeta: true });
    // @ts-expect-error a truth value is no text
    ctx.unsafeDb.update(people).set({ isBeta: "yes" });
    // @ts-expect-error there is no such field
    ctx.unsafeDb.update(user).set({ password: "x" });
  });
});
