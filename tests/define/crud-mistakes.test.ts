// If this file fails, a mistake in a createCrud causes an unclear error at run time, or none.
import { integer, pgTable, serial, text } from "drizzle-orm/pg-core";
import { test } from "vitest";
import { notes } from "../fixture/backend/schema.ts";
import { createCrud, expectTold, type Mistake, open } from "./builders.ts";

const prefixHint =
  "Give the option prefix: a letter from a to z or _, then such letters, digits or _; at most 50 characters.";

const mistakes: Mistake[] = [
  [
    "createCrud without an id",
    () => createCrud(pgTable("t", { key: integer("id") }, open)),
    'createCrud: table "t" must have an id column.',
    'Add one, such as id: serial("id").primaryKey() or id: uuid("id").primaryKey().defaultRandom(). A join table needs ' +
      "no createCrud: name it in include of another, as { name, through }.",
  ],
  [
    "createCrud without a policy",
    () => createCrud(pgTable("t", { id: serial("id").primaryKey() })),
    'createCrud: table "t" declares no policy, so it would deny everybody.',
    "Return one of these from the table's third argument: ownerRls(t.userId) for rows of a user, orgRls(t.orgId) for rows of an organization, " +
      'openRls({ read: "anyone", write: "authenticated" }) for rows without an owner, or your own pgPolicy(…).',
  ],
  ...["ä".repeat(32), "a\0b"].map(
    (name): Mistake => [
      `the column ${JSON.stringify(name)}, whose name PostgreSQL would cut off or refuse`,
      () => createCrud(pgTable("t", { id: serial("id").primaryKey(), it: text(name) }, open)),
      `createCrud: ${JSON.stringify(name)} cannot be the name of a table or column.`,
      "Use 1 to 63 bytes of UTF-8 without NUL, both for the column and for its property.",
    ],
  ),
  [
    "updatedAt of a type that holds no time",
    () => createCrud(pgTable("t", { id: serial("id").primaryKey(), updatedAt: text("updated_at") }, open)),
    'createCrud: updatedAt of "t" has the type text, but update sets it to the current time.',
    'Make it timestamp("updated_at", { withTimezone: true }), or give the column another name.',
  ],
  [
    "a group and a measure of one name",
    () =>
      createCrud(pgTable("t", { id: serial("id").primaryKey(), count: integer("count") }, open), {
        aggregate: { groupBy: ["count"], measures: ["count"] },
      }),
    'createCrud: aggregate.groupBy of "t" and aggregate.measures both name "count".',
    "A group has one member of each name. Leave one of the two out.",
  ],
  ...["", "1a", "a-b", "a.b", "a b", "ä", "x".repeat(51), "a;drop"].map(
    (prefix): Mistake => [
      `the prefix ${prefix}`,
      () => createCrud(notes, { prefix }),
      `createCrud: "${prefix}" cannot be a prefix.`,
      prefixHint,
    ],
  ),
  [
    "a table whose name cannot be a prefix",
    () => createCrud(pgTable("my-table", { id: serial("id").primaryKey() }, open)),
    'createCrud: "my-table" cannot be a prefix.',
    prefixHint,
  ],
  ...(
    [
      [0],
      [-1],
      [1.5, ", got a number"],
      [10_001],
      [Number.NaN, ", got NaN"],
      [Infinity, ", got Infinity"],
      ["20", ", got a string"],
    ] as const
  ).flatMap(([value, got = ""]) =>
    ["defaultLimit", "maxLimit"].map(
      (option): Mistake => [
        `${option} ${value}`,
        () => createCrud(notes, { [option]: value }),
        `createCrud of "notes": ${option}: must be a whole number from 1 to 10000${got}`,
      ],
    ),
  ),
];

test.for(mistakes)("%s is told, with what to write instead", ([, ...mistake]) => expectTold(...mistake));
