// If this file fails, lists and policies of some tables with ownerRls, memberRls or orgRls read all rows, or a table gets two
// equal indexes.
import { index, type PgColumnBuilderBase, pgTable, primaryKey, serial, text, timestamp } from "drizzle-orm/pg-core";
import { expect, test } from "vitest";
import { memberRls, orgRls, ownerRls } from "../../src/index.ts";
import { takeSnapshot } from "../../src/migrate/generate/schema-snapshot.ts";

type Extra = (t: Record<string, never>) => unknown[];
type Options = Parameters<typeof ownerRls>[1];
const owned = (columns: Record<string, PgColumnBuilderBase>, extra: Extra = () => [], options: Options = {}) =>
  pgTable("t", columns, (t) => [...ownerRls(t.userId as never, options), ...(extra(t as never) as never[])]);
const id = () => serial("id").primaryKey();
const userId = () => text("user_id").notNull();

test.for<[what: string, table: () => unknown, index: string[]]>([
  [
    "with a time",
    () => owned({ id: id(), userId: userId(), createdAt: timestamp("at") }),
    ["user_id", "at desc", "id desc"],
  ],
  [
    "that its owners only read",
    () => owned({ id: id(), userId: userId(), createdAt: timestamp("at") }, undefined, { write: "nobody" }),
    ["user_id", "at desc", "id desc"],
  ],
  [
    "that everybody reads and its owners write",
    () => owned({ id: id(), userId: userId() }, undefined, { read: "public" }),
    ["user_id", "id desc"],
  ],
  [
    "that everybody reads and nobody writes",
    () => owned({ id: id(), userId: userId() }, undefined, { read: "public", write: "nobody" }),
    [],
  ],
  ["without a time", () => owned({ id: id(), userId: userId() }), ["user_id", "id desc"]],
  ["without an id", () => owned({ userId: userId(), key: text("key") }), ["user_id"]],
  ["of one row per user", () => owned({ userId: userId().primaryKey() }), []],
  [
    "of a key that begins with the user",
    () => owned({ userId: userId(), key: text("key") }, (t) => [primaryKey({ columns: [t.userId, t.key] as never })]),
    [],
  ],
  [
    "with an index of the author's",
    () => owned({ id: id(), userId: userId() }, (t) => [index("own").on(t.userId as never)]),
    [],
  ],
])("a table %s", async ([, table, expected]) => {
  const { tables } = await takeSnapshot({ schema: { t: table() }, auth: {} }, null);
  const made = tables["public.t"]?.indexes.t_owner_newest?.columns ?? [];
  expect(made.map(({ expression, asc }) => (asc ? expression : `${expression} desc`))).toEqual(expected);
});

test("each column of further readers has one, unless one begins so", async () => {
  const columns = {
    id: id(),
    userId: userId(),
    to: text("recipient_id").notNull(),
    cc: text("copy_to"),
    at: timestamp("at"),
  };
  const made = async (extra: Extra = () => []) => {
    const table = pgTable("t", columns, (t) => [
      ...ownerRls(t.userId, { read: [t.to, t.cc] }),
      ...(extra(t as never) as never[]),
    ]);
    const { tables } = await takeSnapshot({ schema: { table }, auth: {} }, null);
    return Object.values(tables["public.t"]?.indexes ?? {}).map(({ name, columns: parts }) => [
      name,
      parts[0]?.expression,
    ]);
  };
  const owner = ["t_owner_newest", "user_id"];
  expect(await made()).toEqual([owner, ["t_recipient_id_newest", "recipient_id"], ["t_copy_to_newest", "copy_to"]]);
  const own: Extra = (t) => [index("own").on(t.to as never, t.id as never)];
  expect(await made(own)).toEqual([["own", "recipient_id"], owner, ["t_copy_to_newest", "copy_to"]]);
});

test("a table of teams has one on the team, unless one begins so", async () => {
  const of = (extra: Extra = () => [], write?: "nobody") => {
    const memberships = pgTable("memberships", { teamId: text("team_id"), userId: userId() });
    const rules = { through: memberships, user: memberships.userId, ...(write && { write }) };
    return pgTable("t", { id: id(), teamId: text("team_id") }, (t) => [
      ...memberRls({ ...rules, team: t.teamId }),
      ...(extra(t as never) as never[]),
    ]);
  };
  const indexes = async (table: unknown) => {
    const { tables } = await takeSnapshot({ schema: { table }, auth: {} }, null);
    return Object.values(tables["public.t"]?.indexes ?? {}).map(({ name, columns }) => [name, columns[0]?.expression]);
  };
  expect(await indexes(of())).toEqual([["t_team_id", "team_id"]]);
  expect(await indexes(of(undefined, "nobody"))).toEqual([["t_team_id", "team_id"]]);
  const own: Extra = (t) => [index("own").on(t.teamId as never, t.id as never)];
  expect(await indexes(of(own))).toEqual([["own", "team_id"]]);
});

test("a table of organizations has one for lists of one organization, unless one begins so", async () => {
  const indexes = async (more: object, extra: Extra = () => []) => {
    const columns = { id: id(), orgId: text("org_id").notNull(), ...more };
    const table = pgTable("t", columns, (t) => [...orgRls(t.orgId), ...(extra(t as never) as never[])]);
    const { tables } = await takeSnapshot({ schema: { table }, auth: {} }, null);
    return Object.values(tables["public.t"]?.indexes ?? {}).map(({ name, columns: parts }) => [
      name,
      parts.map(({ expression, asc }) => `${expression} ${asc ? "asc" : "desc"}`).join(),
    ]);
  };
  const createdAt = timestamp("created_at").notNull();
  expect(await indexes({ createdAt })).toEqual([["t_org_id", "org_id asc,created_at desc,id desc"]]);
  expect(await indexes({})).toEqual([["t_org_id", "org_id asc,id desc"]]);
  expect(await indexes({}, (t) => [index("own").on(t.orgId as never)])).toEqual([["own", "org_id asc"]]);
});
