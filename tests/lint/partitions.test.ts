// If this file fails, `svc db lint` reports one mistake for each partition of a table, or is silent about an open partition.
import { beforeAll, expect, test } from "vitest";
import { database } from "../support/database.ts";

const db = database();
beforeAll(() =>
  db.sql(`create schema lab authorization svc_owner; grant usage on schema lab to svc_authenticated;
    create table lab.devices (id bigint primary key); alter table lab.devices enable row level security;
    create table lab.readings (id bigint not null, device bigint not null references lab.devices, at date not null, seen timestamp)
      partition by range (at);
    create unique index on lab.readings (id, at);
    create table lab.readings_1 partition of lab.readings for values from ('2026-01-01') to ('2026-02-01');
    create table lab.readings_2 partition of lab.readings for values from ('2026-02-01') to ('2026-03-01');
    create index newest on lab.readings (at desc nulls last, id);
    create index again on lab.readings (at desc nulls last, id);
    create table lab.alerts (reading bigint, day date, foreign key (reading, day) references lab.readings (id, at));
    alter table lab.readings enable row level security; alter table lab.readings_1 enable row level security`),
);

const found = async () =>
  (await db.sql<{ rule: string; name: string; remedy: string }>("select * from svc_private.lint_schema()")).filter(
    ({ name }) => /lab\./.test(name),
  );

test("a mistake in a partitioned table is reported once, and that a partition is open", async () => {
  expect((await found()).map(({ rule, name }) => `${rule} ${name}`).sort()).toEqual([
    "descending_nulls_last lab.again",
    "descending_nulls_last lab.newest",
    "duplicate_index lab.again",
    "no_primary_key lab.alerts",
    "no_primary_key lab.readings",
    "rls_disabled lab.alerts",
    "rls_disabled lab.readings_2",
    "timestamp_without_time_zone lab.readings.seen",
    "unindexed_foreign_key alerts_reading_day_fkey on lab.alerts",
    "unindexed_foreign_key readings_device_fkey on lab.readings",
  ]);
  const [partition] = (await found()).filter(({ name }) => name === "lab.readings_2");
  expect(partition?.remedy).toMatch(/^alter table lab.readings_2 enable row level security; .*no policies/);
});

test("what a comment on the table allows is allowed for its partitions", async () => {
  await db.sql(`comment on table lab.readings is 'lint:allow no_primary_key: two of one time are fine';
    comment on column lab.readings.seen is 'lint:allow timestamp_without_time_zone: local time'`);
  const rules = (await found()).filter(({ name }) => /readings/.test(name)).map(({ rule }) => rule);
  expect(rules).not.toContain("no_primary_key");
  expect(rules).not.toContain("timestamp_without_time_zone");
});
