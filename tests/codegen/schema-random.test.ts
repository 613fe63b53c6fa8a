// If this file fails, there are two schemas between which a generated migration omits a change.
import { openRls, ownerRls } from "@svc/core";
import {
  bigserial,
  boolean,
  index,
  integer,
  type PgColumnBuilderBase,
  type PgEnum,
  pgEnum,
  pgTable,
  serial,
  text,
  timestamp,
  unique,
  varchar,
} from "drizzle-orm/pg-core";
import { expect, test } from "vitest";
import { fc } from "../support/properties.ts";
import { apply, emptyDatabase, evolution, facts, migrationsOf } from "./evolution.ts";

evolution();

/** A schema as data: the contents of each table, by name. */
const plan = fc.record({
  moods: fc.subarray(["calm", "angry", "cross"], { minLength: 1 }),
  tables: fc.dictionary(
    fc.constantFrom("a", "b", "order"),
    fc.record({
      rls: fc.constantFrom("owner", "public", "open", "read", "none"),
      columns: fc.record(
        {
          x: fc.constantFrom("text", "integer", "varchar", "boolean"),
          mood: fc.constantFrom("mood", "text"),
          select: fc.constantFrom("serial", "integer", "bigserial"),
          createdAt: fc.constant("instant"),
        },
        { requiredKeys: [] },
      ),
      hasDefault: fc.boolean(),
      notNull: fc.boolean(),
      isIndexed: fc.boolean(),
      isUnique: fc.boolean(),
    }),
    { maxKeys: 3 },
  ),
});
type Plan = typeof plan extends fc.Arbitrary<infer T> ? T : never;
type TablePlan = Plan["tables"][string];

test("from any schema to any other, the database becomes what a fresh one is", async () => {
  await fc.assert(
    fc.asyncProperty(plan, plan, async (from, to) => {
      const texts = await migrationsOf({ schema: build(from) }, { schema: build(to), drops: gone(from, to) });
      const upgraded = await emptyDatabase();
      await apply(upgraded, texts.slice(0, 1));
      await apply(upgraded, texts);
      const direct = await emptyDatabase();
      await apply(direct, await migrationsOf({ schema: build(to) }));
      expect(await facts(upgraded), texts[1] ?? "").toEqual(await facts(direct));
      await Promise.all([upgraded.drop(), direct.drop()]);
    }),
    { numRuns: process.env.FUZZ_RUNS ? 200 : 8 },
  );
}, 3_600_000);

function build({ moods, tables }: Plan): Record<string, unknown> {
  const mood = pgEnum("mood", moods as [string, ...string[]]);
  return { mood, ...Object.fromEntries(Object.entries(tables).map(([name, plan]) => [name, table(name, plan, mood)])) };
}

function table(name: string, { rls, columns, hasDefault, notNull, isIndexed, isUnique }: TablePlan, mood: Mood) {
  const decorate = (column: Decorated, value: unknown) => {
    const withDefault = hasDefault ? column.default(value as never) : column;
    return (notNull ? withDefault.notNull() : withDefault) as unknown as PgColumnBuilderBase;
  };
  const kinds: Record<string, (name: string) => PgColumnBuilderBase> = {
    text: (column) => decorate(text(column) as unknown as Decorated, "calm"),
    varchar: (column) => decorate(varchar(column, { length: 9 }) as unknown as Decorated, "it's"),
    integer: (column) => decorate(integer(column) as unknown as Decorated, 1),
    boolean: (column) => decorate(boolean(column) as unknown as Decorated, true),
    mood: (column) => decorate(mood(column) as unknown as Decorated, mood.enumValues[0]),
    serial: (column) => serial(column),
    bigserial: (column) => bigserial(column, { mode: "number" }),
    instant: () => timestamp("created_at").notNull().defaultNow(),
  };
  const own = Object.entries(columns).map(([column, kind]) => [column, kinds[kind]?.(column) ?? text(column)]);
  const fixed = { id: serial("id").primaryKey(), userId: text("user_id").notNull(), title: text("title") };
  return pgTable(name, { ...fixed, ...Object.fromEntries(own) } as typeof fixed, (t) => [
    ...(isIndexed ? [index(`${name}_by_title`).on(t.title, t.id.desc())] : []),
    ...(isUnique ? [unique().on(t.userId, t.title)] : []),
    ...policies(rls, t.userId),
  ]);
}
type Mood = PgEnum<[string, ...string[]]>;
interface Decorated {
  default(value: never): Decorated;
  notNull(): Decorated;
}

function policies(rls: TablePlan["rls"], owner: Parameters<typeof ownerRls>[0]) {
  if (rls === "owner") return ownerRls(owner);
  if (rls === "public") return ownerRls(owner, { read: "public" });
  if (rls === "open") return openRls({ read: "anyone", write: "authenticated" });
  return rls === "read" ? openRls({ read: "authenticated", write: "nobody" }) : [];
}

/** Everything that is missing was dropped: nothing here is a rename. */
function gone(from: Plan, to: Plan): string[] {
  const columns = Object.entries(from.tables).flatMap(([name, { columns: had }]) => {
    const next = to.tables[name];
    if (!next) return [name];
    const lost = Object.keys(had).filter((column) => !(column in next.columns));
    return lost.map((column) => `${name}.${column === "createdAt" ? "created_at" : column}`);
  });
  return [...columns, ...from.moods.filter((mood) => !to.moods.includes(mood)).map((mood) => `mood.${mood}`)];
}
