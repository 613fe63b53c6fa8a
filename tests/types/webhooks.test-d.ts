// If this file fails, a webhook compiles that names columns which its tables do not have.
import { createCrudFactory, createSvcProcedureBuilders, type Procedure, type Webhook, webhook } from "@svc/core";
import { boolean, pgTable, text, uuid } from "drizzle-orm/pg-core";
import { expectTypeOf, test } from "vitest";

const tickets = pgTable("tickets", {
  id: uuid("id").primaryKey(),
  userId: text("user_id"),
  status: text("status", { enum: ["open", "done"] }),
});
const endpoints = pgTable("endpoints", {
  id: uuid("id").primaryKey(),
  accountId: text("account_id"),
  userId: text("user_id"),
  url: text("url"),
  secret: text("secret"),
  enabled: boolean("enabled"),
});
const rest = { name: "a", on: tickets, when: "update", columns: ["id"], to: { env: "A_HOOK" } } as const;

test("columns, the filter and owners are those of the tables", () => {
  expectTypeOf(webhook({ ...rest, filter: { status: "done" } })).toEqualTypeOf<Webhook>();
  webhook({ ...rest, filter: { status: null }, to: { endpoints, owner: "userId" } });
  webhook({ ...rest, to: { endpoints, owner: { row: "userId", endpoint: "accountId" } } });
  // @ts-expect-error a column that is not there
  webhook({ ...rest, columns: ["titel"] });
  // @ts-expect-error a value that the column never has
  webhook({ ...rest, filter: { status: "paid" } });
  // @ts-expect-error of one of the two tables
  webhook({ ...rest, to: { endpoints, owner: "accountId" } });
  // @ts-expect-error an unknown event
  webhook({ ...rest, when: "upsert" });
});

test("a resource of endpoints has the operations of deliveries only with the option", () => {
  const createCrud = createCrudFactory(createSvcProcedureBuilders());
  const { deliveries, retryDelivery } = createCrud(endpoints, { deliveries: true });
  type Types<P> = P extends Procedure<infer T> ? T : never;
  expectTypeOf<Types<typeof deliveries>["input"]>().toEqualTypeOf<{
    id: string;
    limit?: number | undefined;
    cursor?: string | null | undefined;
  }>();
  expectTypeOf<Types<typeof retryDelivery>["input"]>().toEqualTypeOf<{ id: string; delivery: string }>();
  expectTypeOf<Types<typeof retryDelivery>["output"]["state"]>().toEqualTypeOf<"pending" | "sent" | "dead">();
  // @ts-expect-error without the option there is none
  createCrud(endpoints).deliveries;
});
