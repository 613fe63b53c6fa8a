/**
 * Views as sources of `createCrud`, for `list` and `get`: the caller of a view with `security_invoker` sees what the
 * policies of its tables show. Drizzle makes the columns of a view as those of a table, which stands for the view here.
 */
import { getTableColumns, is, isTable } from "drizzle-orm";
import {
  getViewConfig,
  type PgColumn,
  PgMaterializedView,
  PgTable,
  type PgTableWithColumns,
  PgView,
} from "drizzle-orm/pg-core";
import { DefinitionError } from "../kit/definition-error.ts";
import { checkTable } from "./check-table.ts";
import type { CrudOptions, CrudProcedures } from "./crud-types.ts";

/** The table that stands for a view, in types. */
export type TableOf<Source> = Source extends PgTable
  ? Source
  : Source extends PgView<infer Name, boolean, infer Columns extends Record<string, PgColumn>>
    ? PgTableWithColumns<{ name: Name; schema: undefined; columns: Columns; dialect: "pg" }>
    : never;

/** The result of `createCrud`: of a view, `list` and `get`. */
export type ProceduresOf<Source, O> = Source extends PgTable
  ? CrudProcedures<TableOf<Source>, O>
  : CrudProcedures<TableOf<Source>, O extends { methods: object } ? O : O & { methods: readonly ["list", "get"] }>;

/** @throws DefinitionError for a view whose rows policies would not decide, or whose columns are not declared */
export function sourceOf(source: unknown): { table: PgTable; view: { schema: string } | null } {
  // A column named __proto__ takes the prototype from a table, which is() goes by.
  if (isTable(source)) {
    checkTable(source);
    return { table: source, view: null };
  }
  if (is(source, PgMaterializedView)) {
    throw new DefinitionError("createCrud: policies do not decide about rows of a materialized view.", {
      hint: "Keep the rows in a table with policies; or write a view with security_invoker.",
    });
  }
  if (!is(source, PgView)) {
    throw new DefinitionError("createCrud takes a table or a view of the schema.", {
      hint: "Write createCrud(schema.tasks), with an export of schema.ts.",
    });
  }
  const { name, schema = "public", selectedFields, with: options } = getViewConfig(source);
  if (!options?.securityInvoker) {
    throw new DefinitionError(`createCrud: the view "${name}" does not say that it has security_invoker.`, {
      hint: "Write .with({ securityInvoker: true }) before .as(…), not .existing(): otherwise callers see the rows that the owner of the view sees.",
    });
  }
  const [column] = Object.values(selectedFields) as PgColumn[];
  const table = column?.table;
  const isDeclared =
    is(table, PgTable) && Object.keys(getTableColumns(table)).join() === Object.keys(selectedFields).join();
  if (!isDeclared) {
    throw new DefinitionError(`createCrud: the columns of the view "${name}" are not declared.`, {
      hint: `Declare them: pgView("${name}", { id: integer("id").primaryKey(), … }).with({ securityInvoker: true }).as(sql\`…\`).`,
    });
  }
  return { table, view: { schema } };
}

const notOfViews = ["upsertBy", "many", "softDelete", "hooks", "realtime", "history", "deliveries"] as const;

/** The options of a resource that reads a view. @throws DefinitionError for those that write */
export function optionsOfView(name: string, options: CrudOptions): CrudOptions {
  const { methods = ["list", "get"], transfer } = options;
  const writing = methods.find((method) => method !== "list" && method !== "get");
  const option =
    notOfViews.find((name) => (options[name] ?? false) !== false) ?? (transfer?.import && "transfer.import");
  if (writing === undefined && !option) return { ...options, methods };
  throw new DefinitionError(
    `createCrud: ${option || `the method "${writing}"`} is not for a view, and "${name}" is one.`,
    { hint: "A view has list and get. Write to its tables; who watches the view hears of their changes." },
  );
}
