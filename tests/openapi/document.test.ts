// If this file fails, tools refuse /openapi.json, or it does not match the validators of a procedure.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import { twoFactor } from "better-auth/plugins";
import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { command as openapi } from "../../src/cli/openapi.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import type { AuthDefinition } from "../../src/contract/auth.ts";
import { defineApi, defineAuth, v } from "../../src/index.ts";
import { openApiDocument } from "../../src/openapi/document.ts";
import { procedure } from "../fixture/backend/index.ts";
import { root } from "../support/global-setup.ts";
import { api } from "./application.ts";
import { schemasOf } from "./checks.ts";

const config = await loadConfig({ cwd: join(root, "tests/fixture"), env: {} });
const withPlugin = defineAuth({ betterAuth: (defaults) => ({ ...defaults, plugins: [twoFactor()] }) });
const document = openApiDocument({ api, auth: withPlugin }, config, "https://api.example.com");
// biome-ignore lint/suspicious/noExplicitAny: tests look deep into a document of any shape
const at = (...keys: string[]): any => keys.reduce<any>((value, key) => value?.[key], document);
const argsOf = (path: string) =>
  at("paths", path, "post", "requestBody", "content", "application/json", "schema", "properties", "args");
const resultOf = (path: string) =>
  at("paths", path, "post", "responses", "200", "content", "application/json", "schema", "properties", "json");

test("the document is one of OpenAPI 3.1, and each of its schemas is JSON Schema 2020-12", async () => {
  const plain = JSON.parse(JSON.stringify(document));
  expect(await new Validator().validate(plain)).toMatchObject({ valid: true });
  const schemas = schemasOf(plain);
  expect(schemas.length).toBeGreaterThan(200);
  const ajv = new Ajv2020();
  expect(schemas.filter((schema) => !ajv.validateSchema(schema as object))).toEqual([]);
});

test("references lead somewhere", () => {
  const references = [
    ...new Set([...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path]) => path)),
  ];
  expect(references.length).toBeGreaterThan(20);
  expect(references.filter((path) => at(...(path ?? "").split("/")) === undefined)).toEqual([]);
});

test("a status of workflows is one of those that there are", () => {
  const args = JSON.stringify(argsOf("/api/query/workflows.list"));
  expect(args).toContain('"enum":["pending","running","completed","failed","cancelled"]');
});

test("operations have names of their own", () => {
  const ids = Object.values(document.paths).flatMap((item) =>
    Object.values(item).flatMap((operation) => (operation as { operationId?: string }).operationId ?? []),
  );
  expect(ids.length).toBeGreaterThan(60);
  expect(new Set(ids).size).toBe(ids.length);
});

describe("what a procedure takes and returns", () => {
  test("comes from v, zod and arktype, and is open where a library does not say", () => {
    expect(argsOf("/api/query/sums.add")).toEqual({
      type: "object",
      properties: { a: { type: "number" }, b: { type: "number" }, more: { type: "array", items: { type: "number" } } },
      required: ["a"],
    });
    expect(resultOf("/api/query/sums.add")).toMatchObject({ properties: { sum: { type: "number" } } });
    expect(argsOf("/api/query/foreign.ark")).toMatchObject({
      properties: { size: { type: "integer", minimum: 1, maximum: 9 } },
      required: ["size"],
    });
    expect(argsOf("/api/query/foreign.valibot")).toEqual({
      description: "Checked, by rules that have no JSON Schema here.",
    });
  });

  test("of dates and bigints is what JSON carries in results, and left open in input", () => {
    expect(argsOf("/api/query/times.next").properties.after.type).toBeUndefined();
    const { at, count, names } = resultOf("/api/query/times.next").properties;
    expect([at.format, count.type, names.type]).toEqual(["date-time", "string", "array"]);
  });

  test("may hold itself", () => {
    const { $ref } = argsOf("/api/mutation/trees.plant").properties.tree;
    const name = $ref.slice("#/components/schemas/".length);
    expect(at("components", "schemas", name, "properties", "children", "items", "$ref")).toBe($ref);
  });

  test("stands in a v.object as a foreign schema does, references included", () => {
    const Node = z.object({
      get next() {
        return Node.optional();
      },
    });
    const chain = procedure.query
      .name("chain")
      .input(v.object({ a: v.array(Node), b: v.string() }))
      .handler(() => 1);
    const { paths, components } = openApiDocument(
      { api: defineApi({ procedures: { chain } }), auth: {} },
      config,
      "http://a",
    );
    const text = JSON.stringify(paths["/api/query/chain"]);
    const [, name = ""] = /"next":\{"\$ref":"#\/components\/schemas\/([^"]+)"/.exec(text) ?? [];
    expect(components.schemas?.[name]).toMatchObject({
      properties: { next: { $ref: `#/components/schemas/${name}` } },
    });
  });

  test("with files is multipart alone", () => {
    const content = at("paths", "/api/mutation/files.measure", "post", "requestBody", "content");
    expect(Object.keys(content)).toEqual(["multipart/form-data"]);
    const file = { type: "string", format: "binary" };
    expect(content["multipart/form-data"].schema.properties).toMatchObject({ data: { type: "string" }, file });
  });
});

describe("generated CRUD", () => {
  test("has the columns of its table, with what they may be", () => {
    const { properties, required } = at("components", "schemas", "articles.Row");
    expect(required).toEqual(Object.keys(properties));
    expect(properties).toMatchObject({
      id: { type: "string", format: "uuid" },
      mood: { type: ["string", "null"], enum: ["calm", "it's complicated", null] },
      rank: { type: ["string", "null"] },
      published: { type: "boolean" },
      publishedAt: { type: ["string", "null"], format: "date-time" },
    });
    const create = argsOf("/api/mutation/articles.create");
    expect(create.required).toEqual(["title"]);
    expect(Object.keys(create.properties)).not.toContain("userId");
    expect(argsOf("/api/mutation/articles.update").properties).toHaveProperty("ifUnmodifiedSince");
  });

  test("has the options of its createCrud: filters, search, methods, columns, counting", () => {
    expect(argsOf("/api/query/articles.list").properties).toMatchObject({ filters: {}, search: {} });
    expect(argsOf("/api/query/notes.list").properties).not.toHaveProperty("filters");
    expect(document.paths).not.toHaveProperty("/api/mutation/read_only.create");
    expect(at("components", "schemas", "read_only.Row", "properties")).not.toHaveProperty("body");
    expect(resultOf("/api/query/uncounted_articles.list").properties.total).toEqual({ type: "null" });
  });
});

test("who may call is said: with a session, with or without, and by which cookie", () => {
  const security = (path: string, verb = "post") => at("paths", path, verb, "security");
  expect(security("/api/query/notes.list")).toEqual([{ bearer: [] }, { cookie: [] }]);
  expect(security("/api/query/sums.add")).toEqual([{}, { bearer: [] }, { cookie: [] }]);
  expect(security("/api/auth/sign-in")).toEqual([]);
  expect(at("components", "securitySchemes", "cookie", "name")).toBe("__Secure-authlib.session_token");
});

test("endpoints of better-auth's plugins are there, with the bodies that they declare", () => {
  const body = at(
    "paths",
    "/api/auth/two-factor/enable",
    "post",
    "requestBody",
    "content",
    "application/json",
    "schema",
  );
  expect(body.properties).toHaveProperty("password");
});

test("the lengths of a password are those of the application", () => {
  const passwordIn = (auth: AuthDefinition) => {
    // biome-ignore lint/suspicious/noExplicitAny: as above
    const { paths } = openApiDocument({ api, auth }, config, "https://api.example.com") as Record<string, any>;
    return paths["/api/auth/sign-up"].post.requestBody.content["application/json"].schema.properties.password;
  };
  expect(passwordIn({})).toEqual({ type: "string", minLength: 8, maxLength: 128 });
  const betterAuth = () => ({ emailAndPassword: { enabled: true, minPasswordLength: 12 } });
  expect(passwordIn({ betterAuth })).toEqual({ type: "string", minLength: 12, maxLength: 128 });
});

test("every error code is described, at its status, with what says when to come back", () => {
  const text = JSON.stringify(at("components", "responses"));
  for (const code of at("components", "schemas", "Error", "properties", "code", "enum"))
    expect(text).toContain(`${code}: `);
  expect(at("components", "responses", "Error429", "headers")).toHaveProperty("retry-after");
  expect(at("components", "responses", "Error503", "headers")).toHaveProperty("retry-after");
});

test("svc openapi writes the same, without a database", async () => {
  const folder = await mkdtemp(join(tmpdir(), "svc-openapi-"));
  const out = join(folder, "openapi.json");
  vi.stubEnv("DATABASE_URL", "postgres://nobody:x@127.0.0.1:1/none");
  await openapi.run?.({ cwd: join(root, "tests/fixture"), out });
  vi.unstubAllEnvs();
  const written = JSON.parse(await readFile(out, "utf8"));
  await rm(folder, { recursive: true });
  expect(written.openapi).toBe("3.1.1");
  expect(written.servers).toEqual([{ url: "http://localhost:4000" }]);
  expect(written.paths).toHaveProperty("/api/query/notes.list");
});
