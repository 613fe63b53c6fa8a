// If this file fails, `svc db lint` advises to drop an index that a constraint needs, or is silent about one beside it.
import { expect, test } from "vitest";
import { database } from "../support/database.ts";

const db = database();

test("of duplicate indexes the one stays that has a constraint or makes values unique", async () => {
  await db.sql(`create schema lab authorization svc_owner;
    create table lab.t (id bigint, a int, b int, c int unique, d int, unique (d), unique (d));
    create index id_plain on lab.t (id); alter table lab.t add primary key (id);
    create index a_plain on lab.t (a); create unique index a_unique on lab.t (a);
    create unique index b_unique on lab.t (b) nulls not distinct; create unique index b_again on lab.t (b);
    create index c_again on lab.t (c)`);
  const findings = await db.sql<{ problem: string; remedy: string }>(
    "select problem, remedy from svc_private.lint_duplicate_index where name like 'lab.%' order by name",
  );
  expect(findings.map(({ problem, remedy }) => [problem, remedy])).toEqual([
    ["duplicates lab.a_unique", "drop index concurrently lab.a_plain;"],
    ["duplicates lab.b_unique", "drop index concurrently lab.b_again;"],
    ["duplicates lab.t_c_key", "drop index concurrently lab.c_again;"],
    ["duplicates lab.t_pkey", "drop index concurrently lab.id_plain;"],
  ]);
});

// PostgreSQL refuses to drop it concurrently.
test("an index of a partitioned table is dropped without concurrently", async () => {
  await db.sql(`create schema parts; create table parts.t (id bigint, at date) partition by range (at);
    create index a on parts.t (at); create index b on parts.t (at)`);
  const findings = await db.sql("select remedy from svc_private.lint_duplicate_index where name like 'parts.%'");
  expect(findings).toEqual([{ remedy: "drop index parts.b;" }]);
});
