// If this file fails, the compiler explains a wrong argument of a query by something that its author never wrote.
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

test("the compiler's message names what is wrong", () => {
  const folder = mkdtempSync(join(root, "tests/types/.messages-"));
  try {
    const lines = [
      'import { useInfiniteQuery, useQuery, useSuspenseQuery } from "../../../client/react/src/index.ts";',
      'import { createSvcClient, type Query } from "../../../client/sdk/src/index.ts";',
      'import { api } from "../blog/api.ts";',
      'const client = createSvcClient({ api, baseUrl: "" });',
      "declare const custom: Query<{ id: number }, null>;",
      ...cases.map(([call], at) => `export const _${at} = () => ${call};`),
    ];
    writeFileSync(join(folder, "calls.ts"), lines.join("\n"));
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({ extends: "../../../tsconfig.json", include: [], files: ["calls.ts"] }),
    );
    const { stdout } = spawnSync(join(root, "node_modules/.bin/tsc"), ["--noEmit", "-p", folder, "--pretty", "false"], {
      encoding: "utf8",
    });
    const told = stdout.split(/^(?=\S)/m);
    const messages = cases.map((_, at) =>
      told.filter((text) => text.includes(`calls.ts(${lines.length - cases.length + at + 1},`)).join(""),
    );
    expect(messages).toEqual(cases.map(([, message]) => expect.stringContaining(message)));
  } finally {
    rmSync(folder, { recursive: true });
  }
});
