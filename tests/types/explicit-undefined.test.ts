// If this file fails, an application with `exactOptionalPropertyTypes` cannot hand an option on that it may not have, or an
// option that is undefined is taken for a value.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { crudFile } from "../../src/crud/crud-sql.ts";
import { createCrudFactory, defineApi, workflow } from "../../src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import { notes } from "../fixture/backend/schema.ts";
import { root } from "../support/global-setup.ts";

const lists = "page limit search orderBy orderDir filters cursor";
const resources =
  "allowAnonymous prefix searchFields allowedFilters include getBy upsertBy many aggregate transfer defaultLimit maxLimit " +
  "softDelete count columns methods graphql realtime hooks";
const workflows = "args version retries maxDuration concurrency clients";

const undefinedOf = (names: string) => `{ ${names.replaceAll(/ |$/g, ": undefined, ")} }`;
const calls = [
  `client.query(api.notes.list, ${undefinedOf(lists)}, ${undefinedOf("signal timeoutMs retries")})`,
  `client.mutate(api.notes.create, { title: "x" }, ${undefinedOf("signal timeoutMs")})`,
  `client.query(api.blog_posts.list, ${undefinedOf("select include limit filters")})`,
  `client.upload(new Blob(), ${undefinedOf("name visibility id onStart onProgress signal retries")})`,
  `client.fetch("/x", ${undefinedOf("method headers body signal")})`,
  `createSvcClient({ api, baseUrl: "", ...${undefinedOf("auth timeoutMs fetch WebSocket")} })`,
  `createAuthClient("", ${undefinedOf("strategy sessionTokenStorage sessionToken authBridge timeoutMs fetch")})`,
  `useQuery(api.notes.list, {}, ${undefinedOf("staleTime placeholderData refetchInterval")})`,
  `useMutation(api.notes.create, ${undefinedOf("optimistic invalidates onSuccess onError")})`,
  `useUpload(${undefinedOf("visibility onDone")})`,
  `createTestApp({ ...start, ...${undefinedOf("cwd env limits log")} })`,
  `crud(notes, ${undefinedOf(resources)})`,
  `workflow("w", { handler: async () => 1, ...${undefinedOf(workflows)} })`,
];

const lines = [
  'import { useMutation, useQuery, useUpload } from "../../../client/react/src/index.ts";',
  'import { createAuthClient, createSvcClient } from "../../../client/sdk/src/index.ts";',
  'import { createTestApp } from "../../../client/testing/src/index.ts";',
  'import { createCrudFactory, workflow } from "../../../src/index.ts";',
  'import { procedure } from "../../fixture/backend/index.ts";',
  'import { notes } from "../../fixture/backend/schema.ts";',
  'import { api as blog } from "../blog/api.ts";',
  'import { api as fixture } from "../../fixture/web/svc/api.ts";',
  "const api = { ...blog, ...fixture };",
  'const client = createSvcClient({ api, baseUrl: "" });',
  "const crud = createCrudFactory(procedure);",
  "declare const start: Parameters<typeof createTestApp>[0];",
  ...calls.map((call, at) => `export const _${at} = () => ${call};`),
];
const typeTests = ["related", "react", "tanstack-db", "client-api", "organizations"].map((name) => `${name}.test-d.ts`);
const starters = ["starter", "starter/templates/react"].map((name) => `examples/${name}/vite.config.ts`);
/** What the compiler says with the option. */
let complaints: string[];

beforeAll(() => {
  const folder = mkdtempSync(join(root, "tests/types/.undefined-"));
  try {
    writeFileSync(join(folder, "calls.ts"), lines.join("\n"));
    const compilerOptions = { exactOptionalPropertyTypes: true };
    const files = ["calls.ts", ...typeTests.map((name) => `../${name}`), ...starters.map((name) => join(root, name))];
    const config = { extends: "../../../tsconfig.json", compilerOptions, include: [], files };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
    const { stdout } = spawnSync(join(root, "node_modules/.bin/tsc"), ["--noEmit", "-p", folder, "--pretty", "false"], {
      encoding: "utf8",
    });
    complaints = stdout.split(/^(?=\S)/m);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

/** The sources themselves are not compiled with this option by those who install the packages. */
const about = (files: string[]) => complaints.filter((text) => files.some((name) => text.includes(`${name}(`)));

test("options accept an explicit undefined", () => {
  expect(about(["calls.ts"])).toEqual([]);
});

// Filters of a resource with relations, and groups of an aggregate, were `never` with the option.
test("calls, hooks and collections have the same types as without it", () => {
  expect(about(typeTests)).toEqual([]);
});

test("the starters compile with it", () => {
  expect(about(starters)).toEqual([]);
});

test("an undefined option is an absent one", () => {
  const absent = (names: string) => Object.fromEntries(names.split(" ").map((name) => [name, undefined]));
  const crud = createCrudFactory(procedure);
  const generated = (options: object) =>
    defineApi({ procedures: { notes: crud(notes, options) } })["~svc"].crud.map(crudFile);
  expect(generated(absent(resources))).toEqual(generated({}));
  const handler = async () => 1;
  const described = (options: object) => JSON.stringify(workflow("w", { handler, ...options })["~svc"]);
  expect(described(absent(workflows))).toBe(described({}));
});
