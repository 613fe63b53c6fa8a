// If this file fails, the first GraphQL request stops the whole process while the schema is built, health checks included.
import { expect, test } from "vitest";
import { database } from "../support/database.ts";
import { service } from "../support/service.ts";
import { asker } from "./support.ts";

const db = database();
const app = service(db, undefined, { production: true } as object);

test("in production the schema is that of the catalog at the start of the service", async () => {
  await db.sql("alter table notes rename column priority to urgency");
  const { data } = await asker(app)(null, '{ __type(name: "Note") { fields { name } } }');
  expect(data.__type.fields.map(({ name }: { name: string }) => name)).toContain("priority");
});
