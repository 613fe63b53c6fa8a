// If this file fails, a migration breaks the statements of handlers that running processes keep prepared: calls fail until the
// process is started again, or save values that the old type of a column has changed.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { databaseError } from "../../src/postgres/errors.ts";
import { ann, bob, callers } from "./handler-calls.ts";

const { db, open, begin, once } = callers();

describe("a migration that changes what a kept statement answers with", () => {
  let types = ["bigint", "text", "numeric", "int"];
  const change = async () => {
    const [type = "int", ...others] = types;
    types = [...others, type];
    await db.sql(`alter table owned alter size type ${type} using size::text::${type}`);
  };
  const text = "select size from owned order by id -- migrated";

  test("costs the first statement of a transaction nothing, on any connection", async () => {
    const several = open(3);
    try {
      for (const access of ["read", "write"] as const) {
        for (let turn = 0; turn < 3; turn++) {
          const [first, second, third] = [
            begin(ann, access, several.pool),
            begin(ann, access, several.pool),
            begin(ann, access, several.pool),
          ];
          for (const transaction of [first, second, third]) await transaction.query({ isKept: true, text });
          for (const transaction of [first, second, third]) await transaction.commit();
        }
        await change();
        const asked = [
          begin(ann, access, several.pool),
          begin(bob, access, several.pool),
          begin(ann, access, several.pool),
        ];
        const sizes = await Promise.all(asked.map((transaction) => transaction.query({ isKept: true, text })));
        expect(sizes.map(({ rows }) => String(rows[0].size))).toEqual(["10", "20", "10"]);
        for (const transaction of asked) await transaction.commit();
      }
    } finally {
      await several.close();
    }
  });

  test("costs statements that are sent with the first one nothing, either", async () => {
    for (let turn = 0; turn < 20; turn++) {
      for (let use = 0; use < 3; use++) await once(text);
      await change();
      const transaction = begin();
      const [first, second] = await Promise.all([
        transaction.query({ isKept: true, text }),
        transaction.query({ isKept: true, text: "select 2 as two" }),
      ]);
      expect([String(first.rows[0].size), second.rows]).toEqual(["10", [{ two: 2 }]]);
      await transaction.commit();
    }
  });

  test("says of a later statement that the call can be sent again, and then it works", async () => {
    for (let turn = 0; turn < 3; turn++) await once(text);
    const transaction = begin();
    await transaction.query({ isKept: true, text: "select 1" });
    await change();
    const failure = await transaction.query({ isKept: true, text }).catch((error) => transaction.explain(error));
    expect(failure).toMatchObject({ code: "UNAVAILABLE", retryAfter: 1 });
    await transaction.rollback();
    expect(String((await once(text))[0])).toBe("10");
    expect(databaseError(failure, ann)).toBe(failure);
  });
});

describe("a migration that changes the type of a column", () => {
  const text = {
    number: "insert into typed (number) values ($1)",
    code: "select id from typed where code = $1",
    mood: "select id from typed where mood = $1",
    day: "insert into typed (day) values ($1)",
  };
  beforeEach(async () => {
    await db.sql(`
      create type feeling as enum ('calm', 'glad');
      create table typed (id int generated always as identity, number int, code int, mood feeling, day date);
      grant select, insert on typed to svc_authenticated`);
    for (let turn = 0; turn < 3; turn++) {
      await once(text.number, [1], ann, "write");
      await once(text.code, [1]);
      await once(text.mood, ["calm"]);
      await once(text.day, ["2030-01-01"], ann, "write");
    }
    await db.sql(`
      alter table typed alter number type bigint, alter code type text, alter day type timestamp;
      create type other as enum ('calm', 'glad', 'proud');
      alter table typed alter mood type other using mood::text::other;
      drop type feeling;
      alter type other rename to feeling`);
  });
  afterEach(() => db.sql("drop table typed; drop type feeling"));

  test("costs the first statement of a transaction nothing, if the old type refuses its values", async () => {
    for (let turn = 0; turn < 3; turn++) {
      await once(text.number, ["3000000000"], ann, "write");
      expect(await once(text.code, ["7"])).toEqual([]);
      expect(await once(text.mood, ["proud"])).toEqual([]);
    }
    expect(await db.sql("select number from typed where number > 1")).toEqual(Array(3).fill({ number: "3000000000" }));
    await expect(once(text.number, ["seven"], ann, "write")).rejects.toMatchObject({ code: "22P02" });
  });

  test("is not assumed more than once for a transaction whose value no type takes", async () => {
    await db.sql("create sequence runs; grant usage on sequence runs to svc_authenticated");
    const divide = "select 1 / (nextval('runs') * 0 + $1::int) as quotient";
    for (let turn = 0; turn < 3; turn++) await once(divide, [1], ann, "write");
    await expect(once(divide, [0], ann, "write")).rejects.toMatchObject({ code: "22012" });
    expect(await db.sql("select last_value from runs")).toEqual([{ last_value: "5" }]);
    await expect(once(divide, [0], ann, "write")).rejects.toMatchObject({ code: "22012" });
    expect(await db.sql("select last_value from runs")).toEqual([{ last_value: "6" }]);
  });

  test("costs a later statement one error", async () => {
    const later = async (value: string) => {
      const transaction = begin();
      await transaction.query({ isKept: true, text: "select 1" });
      await transaction.query({ isKept: true, text: text.code }, [value]).finally(() => transaction.rollback());
    };
    await expect(later("7")).rejects.toMatchObject({ code: "42883" });
    for (let turn = 0; turn < 3; turn++) await later("7");
  });

  test("counts after ten seconds, if the old type takes the value", async () => {
    const now = performance.now();
    vi.spyOn(performance, "now").mockReturnValue(now + 10_100);
    try {
      await once(text.day, ["2030-01-01 12:34"], ann, "write");
    } finally {
      vi.restoreAllMocks();
    }
    expect(await db.sql("select day::text from typed order by id desc limit 1")).toEqual([
      { day: "2030-01-01 12:34:00" },
    ]);
  });
});
