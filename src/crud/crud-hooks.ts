/**
 * Runs the application's hook before a generated statement, with checked data. The result is checked as well; if it is
 * invalid, the error is the application's, not the caller's.
 * Next hop: `crud-input.ts` for the checks, `src/call/invoke.ts` runs the step.
 */
import type { CrudDefinition, CrudOperation, CrudStatement } from "../contract/crud.ts";
import { check, type Input, isPlain, toObject } from "../kit/input-checks.ts";
import { type Issue, SvcError } from "../kit/svc-error.ts";
import { kindOf } from "../kit/v.ts";
import { writableColumns } from "./crud-definition.ts";
import { crudValues, idOf, newRows, rowOf } from "./crud-input.ts";
import type { CrudOptions } from "./crud-types.ts";
import { dry, eachRow } from "./many-arguments.ts";

/** A hook returned a value that cannot be stored: a bug of the application, for the log. */
export class HookMistake extends Error {
  override readonly name = "HookMistake";
  /** Such as `hooks.beforeCreate of "tasks"`. */
  readonly hook: string;

  constructor(hook: string, text: string) {
    super(text);
    this.hook = hook;
  }
}

/** The expected results of hooks. */
const wanted = {
  create: "the data to insert, such as { ...data, title: data.title.trim() }",
  update: "the changes to make, such as { ...data, body: data.body?.trim() }",
};

/** Names the row in the refusal of a hook. */
async function atRow<T>(index: number, run: () => T): Promise<Awaited<T>> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof SvcError) || error.issues) throw error;
    const { code, message, hint, retryAfter, cause } = error;
    const issues = [{ path: ["rows", index], message }];
    throw new SvcError(code, message, { hint, retryAfter, issues, cause: cause ?? error });
  }
}

/** Creates the hook step, if the resource declares a hook for the operation. It throws HookMistake. */
export function crudHook(
  crud: CrudDefinition,
  operation: CrudOperation,
  { hooks = {} }: CrudOptions,
): CrudStatement["before"] | undefined {
  const { beforeCreate, beforeUpdate, beforeRemove, beforeUpsert } = hooks;
  const writable = writableColumns(crud);
  const typed = (input: unknown, as: "create" | "update") => {
    const row = check((issues) => rowOf(writable, toObject(input, issues), issues, as));
    const entries = writable.filter(({ property }) => property in row);
    return Object.fromEntries(entries.map((column) => [column.property, column.toApplication(row[column.property])]));
  };
  const storable = (
    returned: unknown,
    as: "create" | "update",
    name: keyof NonNullable<CrudOptions["hooks"]> = as === "create" ? "beforeCreate" : "beforeUpdate",
  ): Input => {
    const hook = `hooks.${name} of "${crud.prefix}"`;
    if (!isPlain(returned)) throw new HookMistake(hook, `it returned ${kindOf(returned)}. Return ${wanted[as]}.`);
    const issues: Issue[] = [];
    rowOf(writable, returned, issues, as);
    if (issues.length === 0) return returned;
    const wrong = issues.map(({ path, message }) => `${path.join(".")} ${message}`).join("; ");
    throw new HookMistake(hook, `its return value cannot be stored: ${wrong}. Return ${wanted[as]}.`);
  };
  const typedId = (input: unknown) =>
    crud.id.toApplication(check((issues) => idOf(crud.id, toObject(input, issues), issues))) as never;
  switch (operation) {
    case "create":
      if (!beforeCreate) return undefined;
      return async (input, context) =>
        storable(await beforeCreate(typed(input, "create") as never, { context }), "create");
    case "upsert":
      if (!beforeUpsert) return undefined;
      return async (input, context) => {
        crudValues(crud, "upsert")(input); // refuses what is wrong with the call itself
        const { by, row } = input as Input;
        const returned = await beforeUpsert(typed(row, "create") as never, { context });
        return { by, row: storable(returned, "create", "beforeUpsert") };
      };
    case "createMany":
      if (!beforeCreate) return undefined;
      return async (input, context) => {
        const rows: Input[] = [];
        for (const row of newRows(crud, input)) {
          const returned = await atRow(rows.length, () => beforeCreate(typed(row, "create") as never, { context }));
          rows.push(storable(returned, "create"));
        }
        return { rows };
      };
    case "update":
      if (!beforeUpdate) return undefined;
      return async (input, context) => {
        const call = { context, id: typedId(input) };
        const { id, ifUnmodifiedSince } = input as Input;
        const returned = await beforeUpdate(typed(input, "update") as never, call);
        return { ...storable(returned, "update"), id, ifUnmodifiedSince };
      };
    case "updateMany":
      if (!beforeUpdate) return undefined;
      return async (input, context, call) => {
        const [args] = crudValues(crud, operation)(input);
        const { set } = input as Input;
        return eachRow(input, await call(dry(args, "{}")), async (id) => {
          const returned = await beforeUpdate(typed(set, "update") as never, { context, id: typedId({ id }) });
          return { id, set: check((issues) => rowOf(writable, storable(returned, "update"), issues, "update")) };
        });
      };
    case "remove":
      if (!beforeRemove) return undefined;
      return async (input, context) => {
        await beforeRemove(typedId(input), { context });
        return input;
      };
    case "removeMany":
      if (!beforeRemove) return undefined;
      return async (input, context, call) => {
        const [args] = crudValues(crud, operation)(input);
        return eachRow(input, await call(dry(args)), async (id) => {
          await beforeRemove(typedId({ id }), { context });
          return { id };
        });
      };
    default:
      return undefined;
  }
}
