// If this file fails, the compiler explains a mistake by something that its author never wrote, or with errors in other places.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../support/global-setup.ts";

// biome-ignore format: a table
const cases: [call: string, message: string][] = [
  ['useQuery(custom, { id: "1" })', "Type 'string' is not assignable to type 'number'."],
  ["useQuery(custom, { id: 1, extra: 1 })", "'extra' does not exist in type '{ id: number; }'"],
  ["useSuspenseQuery(custom, {})", "Property 'id' is missing in type '{}' but required in type '{ id: number; }'."],
  ['client.query(api.blog_posts.list, { limit: "5" })', "Type 'string' is not assignable to type 'number'."],
  ["client.query(api.blog_posts.list, { include: { writer: true } })", "'writer' does not exist in type '{ readonly author?:"],
  ['client.query(api.blog_posts.list, { select: ["slug", "nope"] })', `'"nope"' is not assignable to type '"authorId" | "id" | "slug" | "title"'`],
  ['client.query(api.prints.aggregate, { measures: ["min:copies"] })', `'"min:copies"' is not assignable to type '"count" | "max:copies" | "sum:copies"'`],
  ['useInfiniteQuery(api.blog_posts.list, { limt: 5 })', "Did you mean to write 'limit'?"],
];

// biome-ignore format: a table
const definitions: typeof cases = [
  ['createCrud(notes, { many: true, searchFields: ["titel"] })', `'"titel"' is not assignable to type '"id" | "title" | "userId"'. Did you mean '"title"'?`],
  ['createCrud(notes, { many: true, searchField: ["title"] })', "Did you mean to write 'searchFields'?"],
  ['createCrud(notes, { many: true, columns: { omit: ["titel"] } })', `'"titel"' is not assignable to type '"id" | "title" | "userId"'`],
  ['createCrud(notes, { many: true, history: "yes" })', "Type 'string' is not assignable to type 'boolean | undefined'."],
  ['webhook({ name: "n", on: notes, when: "insert", columns: ["titel"], to: { env: "HOOK" } })', `'"titel"' is not assignable to type '"id" | "title" | "userId"'`],
  ["scheduler.runAfter(0, job)", "Expected 3 arguments, but got 2."],
  ["scheduler.runAfter(0, job, { name: 1 })", "'name' does not exist in type '{ id: string; }'"],
  ["scheduler.runAt(0, procedure.query.handler(() => 1))", `Type '"query"' is not assignable to type '"internal"'`],
  ['defineApi({ procedures: { open: procedure.query, notes: createCrud(notes, { many: true }) } })', "is not assignable to type 'Procedure<"],
];

test("the compiler's message names what is wrong", () => {
  expect(
    messagesOf(cases, [
      'import { useInfiniteQuery, useQuery, useSuspenseQuery } from "../../../client/react/src/index.ts";',
      'import { createSvcClient, type Query } from "../../../client/sdk/src/index.ts";',
      'import { api } from "../blog/api.ts";',
      'const client = createSvcClient({ api, baseUrl: "" });',
      "declare const custom: Query<{ id: number }, null>;",
    ]),
  ).toEqual(cases.map(([, message]) => [expect.stringContaining(message)]));
});

test("a definition with a mistake is told once: what else it declares keeps its types", () => {
  const uses = [...[0, 1, 2, 3].map((at) => `_${at}().createMany`), '_8()["~svc"].types!.notes.createMany'].map(
    (used, at) => `export const _used${at} = () => ${used};`,
  );
  expect(
    messagesOf(definitions, [
      'import { pgTable, text } from "drizzle-orm/pg-core";',
      'import { type Context, createSvc, defineApi, ownerRls, v, webhook } from "../../../src/index.ts";',
      'const columns = { id: text("id").primaryKey(), userId: text("user_id").notNull(), title: text("title").notNull() };',
      'const notes = pgTable("notes", columns, (t) => ownerRls(t.userId));',
      "const { createCrud, procedure } = createSvc({ schema: { notes } });",
      "const job = procedure.internal.input(v.object({ id: v.string() })).handler(() => {});",
      'declare const scheduler: Context["scheduler"];',
      ...uses,
    ]),
  ).toEqual(definitions.map(([, message]) => [expect.stringContaining(message)]));
});

/** What the compiler says about each call, and, after them, about the lines before. */
function messagesOf(calls: typeof cases, before: string[]): string[][] {
  const folder = mkdtempSync(join(root, "tests/types/.messages-"));
  try {
    const lines = [...before, ...calls.map(([call], at) => `export const _${at} = () => ${call};`)];
    writeFileSync(join(folder, "calls.ts"), lines.join("\n"));
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({ extends: "../../../tsconfig.json", include: [], files: ["calls.ts"] }),
    );
    const { stdout } = spawnSync(join(root, "node_modules/.bin/tsc"), ["--noEmit", "-p", folder, "--pretty", "false"], {
      encoding: "utf8",
    });
    const told = stdout.split(/^(?=\S)/m).filter((text) => text !== "");
    const at = (text: string) => Number(/^[^(]*calls\.ts\((\d+),/.exec(text)?.[1]) - before.length - 1;
    const elsewhere = told.filter((text) => !(at(text) >= 0));
    return [
      ...calls.map((_, nth) => told.filter((text) => at(text) === nth)),
      ...(elsewhere.length ? [elsewhere] : []),
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}
