// If this file fails, clients are generated with another history than the service answers with.
import { expect, test } from "vitest";
import { clientApi } from "../../src/codegen/client-api.ts";
import { crudSchemas } from "../../src/crud/openapi.ts";
import { Schemas } from "../../src/kit/schemas.ts";
import { api } from "./application.ts";

test("the SDK's operation converts no values: those of entries are JSON", () => {
  const text = clientApi(api, "/app/web/svc", "/app/backend/index.ts");
  expect(text).toContain('history: query("invoices.history"),');
  expect(text).toContain('get: query("invoices.get", invoicesColumns),');
});

test("the OpenAPI document has the properties that callers see", () => {
  const crud = api["~svc"].crud.find(({ prefix }) => prefix === "invoices");
  if (!crud) throw new Error("invoices is missing");
  const { args, result } = crudSchemas(crud, new Schemas()).history as unknown as {
    args: { properties: object; required: string[] };
    result: { properties: { data: { items: { properties: { changed: { properties: object } } } } } };
  };
  expect(args).toMatchObject({ properties: { limit: { default: 3, maximum: 5 } }, required: ["id"] });
  const { properties } = result.properties.data.items.properties.changed;
  expect(Object.keys(properties)).toEqual(expect.arrayContaining(["createdAt", "iban", "title"]));
  expect(properties).not.toHaveProperty("secret");
});
