// A migration that converts a column would fail where something depends on the column: the release would stop there.

import { openRls } from "@svc/core";
import { sql } from "drizzle-orm";
import {
  bigint,
  check,
  index,
  integer,
  type PgColumnBuilderBase,
  pgPolicy,
  pgTable,
  serial,
  text,
  unique,
  uniqueIndex,
  varchar,
} from "drizzle-orm/pg-core";
import { describe, expect, test } from "vitest";
import { type Change, evolution, expectSame, migrationsOf } from "./evolution.ts";
import { mood } from "./schemas.ts";

evolution();

/** Attempts at quizzes, of which each student has one open at most. */
function attempts(state: PgColumnBuilderBase) {
  return pgTable("attempts", { id: serial("id").primaryKey(), userId: text("user_id").notNull(), state }, (t) => [
    uniqueIndex("attempts_one_open").on(t.userId).where(sql`${t.state} = 'open'`),
    index("attempts_by_word").on(sql`(${t.state} = 'done')`),
    check("attempts_of_somebody", sql`${t.state} <> 'done' or ${t.userId} <> ''`),
    pgPolicy("select_open", { for: "select", to: "svc_authenticated", using: sql`${t.state} = 'open'` }),
  ]);
}
const states = (...values: [string, ...string[]]) => {
  const type = mood(...values);
  return { type, attempts: attempts(type("state").notNull()) };
};
const seed = "insert into attempts (user_id, state) values ('ann', 'open'), ('ann', 'done')";
const rows = {
  query: "select state::text from attempts order by id",
  are: [{ state: "open" }, { state: "done" }],
};

/** Lessons of courses, with a column that is computed from the course's key. */
function lessons(
  whole: (name: string) => ReturnType<typeof integer> | ReturnType<typeof bigint> | ReturnType<typeof text>,
  prefix = "c",
) {
  const courses = pgTable("courses", { id: whole("id").primaryKey() });
  const lessons = pgTable(
    "lessons",
    {
      id: serial("id").primaryKey(),
      courseId: whole("course_id")
        .notNull()
        .references(() => courses.id),
      corpus: text("corpus").generatedAlwaysAs(sql.raw(`'${prefix}' || course_id::text`)),
    },
    (t) => [
      index("lessons_corpus").on(t.corpus, t.id),
      unique("lessons_once").on(t.corpus, t.courseId),
      check("lessons_short", sql`length(${t.corpus}) < 20`),
      pgPolicy("select_corpus", { for: "select", to: "svc_authenticated", using: sql`${t.corpus} <> 'c7'` }),
      pgPolicy("insert_all", { for: "insert", to: "svc_authenticated", withCheck: sql`true` }),
    ],
  );
  return { courses, lessons };
}
const whole = (name: string) => integer(name);
const seedLesson = "insert into courses values (1); insert into lessons (course_id) values (1)";
const corpusOf = (corpus: string) => ({ query: "select corpus from lessons", are: [{ corpus }] });

const changes: Record<string, Change> = {
  "an enum loses a value": {
    from: { schema: states("open", "left", "done") },
    to: { schema: states("open", "done") },
    seed,
    rows,
  },
  "an enum becomes a text": {
    from: { schema: states("open", "done") },
    to: { schema: { attempts: attempts(text("state").notNull()) }, drops: ["mood"] },
    seed,
    rows,
  },
  "a text becomes an enum": {
    from: { schema: { attempts: attempts(text("state").notNull()) } },
    to: { schema: states("open", "done") },
    seed,
    rows,
  },
  "a key and what refers to it get another width": {
    from: { schema: lessons(whole) },
    to: { schema: lessons((name) => bigint(name, { mode: "number" })) },
    seed: seedLesson,
    rows: corpusOf("c1"),
  },
  "a key and what refers to it become texts": {
    from: { schema: lessons(whole) },
    to: { schema: lessons((name) => text(name)) },
    seed: seedLesson,
    rows: corpusOf("c1"),
  },
  "a generated column is computed otherwise": {
    from: { schema: lessons(whole) },
    to: { schema: lessons(whole, "course-") },
    seed: seedLesson,
    rows: corpusOf("course-1"),
  },
};

const computed = (n: PgColumnBuilderBase, double: PgColumnBuilderBase) => ({
  schema: { sums: pgTable("sums", { n, double }, (t) => [index("sums_double").on(t.double), ...openRls(open)]) },
});
const open = { read: "anyone", write: "anyone" } as const;
const seedSum = "insert into sums (n) values (2)";
const double = () => integer("double").generatedAlwaysAs(sql`n * 2`);
Object.assign(changes, {
  "a column becomes a generated one": {
    from: computed(integer("n"), integer("double")),
    to: computed(integer("n"), double()),
    seed: seedSum,
    rows: { query: "select double from sums", are: [{ double: 4 }] },
    says: [/-- Loses the values of double/],
  },
  "a generated column becomes a plain one, and what it was computed from is converted": {
    from: computed(integer("n"), double()),
    to: computed(bigint("n", { mode: "number" }), integer("double")),
    seed: seedSum,
    rows: { query: "select double from sums", are: [{ double: 4 }] },
  },
} satisfies Record<string, Change>);

describe("dependents of a converted column are made again", () => {
  test.each(Object.entries(changes))("%s", (_, change) => expectSame(change));
});

test("a constraint that is only made again is no risk, which would stop `svc dev`", async () => {
  const [, second] = await migrationsOf(
    { schema: lessons(whole) },
    { schema: lessons((name) => text(name), "course-") },
  );
  expect(second).toMatch(/foreign key/i);
  expect(second).not.toMatch(/^-- (Loses|Fails)/m);
});

test("a longer text leaves its indexes alone: building one anew takes long", async () => {
  const of = (length: number) => ({ schema: { attempts: attempts(varchar("state", { length }).notNull()) } });
  const [, second] = await migrationsOf(of(9), of(20));
  expect(second).toMatch(/type varchar\(20\)/);
  expect(second).not.toMatch(/index|constraint/i);
});
