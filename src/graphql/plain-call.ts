/**
 * Answers a plain document by the statement of the call by name: one packet, no plan of PostGraphile, and no second
 * statement that reads a written row.
 * Next hop: `src/crud/prepared-read.ts` for reads, `src/crud/statement.ts` for writes.
 */
import { missingRow } from "../call/hints.ts";
import { admit, isGenerated, type Runtime } from "../call/invoke.ts";
import type { Api } from "../contract/api.ts";
import type { Caller } from "../contract/caller.ts";
import type { ReadShape } from "../contract/crud.ts";
import { findColumn } from "../crud/crud-definition.ts";
import { callPrepared } from "../crud/prepared-read.ts";
import { getShape, shapeOfList } from "../crud/read-shape.ts";
import { callStatement } from "../crud/statement.ts";
import { SvcError } from "../kit/svc-error.ts";
import { identityOf } from "../postgres/identity.ts";
import { inputOf, type Verb } from "./inputs.ts";
import type { PlainDocument, RowMember } from "./plain-document.ts";

/** The value of the document's field, or its error. */
type Answer = { value: unknown } | { error: SvcError };
type Arguments = Record<string, unknown>;

/**
 * @param variables as the client sent them
 * @returns undefined when PostGraphile must answer: nothing was written then
 * @throws SvcError OUTCOME_UNKNOWN
 */
export async function callPlain(
  runtime: Pick<Runtime, "requestPool">,
  api: Api,
  plain: PlainDocument,
  variables: Arguments,
  caller: Caller,
): Promise<Answer | undefined> {
  const args = plain.argumentsOf(variables);
  if (!args) return undefined;
  const { operation } = plain;
  return operation === "list" || operation === "get"
    ? readPlain(runtime, plain, operation === "list" ? shapeOf(plain, args) : rowShape(plain, args), caller)
    : writePlain(runtime, api, plain, operation, args, caller);
}

/** Errors that the caller gets at once: PostGraphile would fail in the same way. */
const isFinal = (error: unknown): error is SvcError =>
  error instanceof SvcError && (error.code === "TIMEOUT" || error.code === "UNAVAILABLE");

async function readPlain(
  { requestPool }: Pick<Runtime, "requestPool">,
  plain: PlainDocument,
  shape: ReadShape | undefined,
  caller: Caller,
): Promise<Answer | undefined> {
  if (!shape || (!caller.session && !plain.table.crud.anonymous)) return undefined;
  const otherwise = () => Promise.reject(new Error("There is no statement of this shape."));
  try {
    const json = await callPrepared(requestPool, identityOf(caller), shape, otherwise);
    const value = json === null ? null : answerOf(plain, JSON.parse(json));
    return value === undefined ? undefined : { value };
  } catch (error) {
    // Nothing was written, so PostGraphile reads again and gives its own error.
    return isFinal(error) ? { error } : undefined;
  }
}

async function writePlain(
  { requestPool }: Pick<Runtime, "requestPool">,
  api: Api,
  { table, row }: PlainDocument,
  verb: Verb,
  args: Arguments,
  caller: Caller,
): Promise<Answer | undefined> {
  const procedure = api["~svc"].procedures.get(`${table.crud.prefix}.${verb}`);
  if (!procedure || !isGenerated(procedure) || procedure.statement.before) return undefined;
  const { statement } = procedure;
  try {
    admit(caller.session, procedure);
    const values = statement.values(inputOf(table, verb, args));
    const json = await callStatement(requestPool, identityOf(caller), statement, values, false);
    if (json === null) throw missingRow();
    const written = JSON.parse(json);
    // The row is already written, so a value without a form in GraphQL has the form of a call by name.
    return { value: row ? rowOf(row, written, true) : written.id };
  } catch (error) {
    if (!(error instanceof SvcError) || error.code === "OUTCOME_UNKNOWN") throw error;
    return { error };
  }
}

/** @returns undefined when a value has another form in GraphQL */
function answerOf({ members, row }: PlainDocument, read: { data: object[]; total: number }): unknown {
  if (row) return rowOf(row, read);
  const answer: Record<string, unknown> = {};
  for (const member of members) {
    if (member.is === "constant") answer[member.key] = member.value;
    else if (member.is === "totalCount") answer[member.key] = read.total;
    else {
      const rows = read.data.map((one) => rowOf(member.row, one));
      if (rows.includes(undefined)) return undefined;
      answer[member.key] = rows;
    }
  }
  return answer;
}

function rowOf(members: readonly RowMember[], row: object, anyForm = false): object | undefined {
  const answer: Record<string, unknown> = {};
  for (const member of members) {
    if ("constant" in member) {
      answer[member.key] = member.constant;
      continue;
    }
    const value = (row as Record<string, unknown>)[member.property];
    const formed = member.form(value);
    if (formed === undefined && !anyForm) return undefined;
    answer[member.key] = formed === undefined ? value : formed;
  }
  return answer;
}

/** The properties that are read; undefined: all of them. */
function selectOf({ select, table: { crud } }: PlainDocument): string[] | undefined {
  const selected = select.length > 0 ? [...select].sort() : ["id"];
  return selected.length === crud.visible.size ? undefined : selected;
}

const rowShape = (plain: PlainDocument, { id }: Arguments): ReadShape | undefined =>
  getShape(plain.table.crud, null, { by: { id }, select: selectOf(plain) });

/** @returns undefined for a page that a list by name does not have */
function shapeOf(plain: PlainDocument, args: Arguments): ReadShape | undefined {
  const { crud } = plain.table;
  if ([args.last, args.before, args.after].some((given) => (given ?? null) !== null)) return undefined;
  const limit = Math.min(Number(args.first ?? crud.defaultLimit), crud.maxLimit);
  const page = Number(args.offset ?? 0) / limit + 1;
  const order = orderOf(plain, args.orderBy);
  const filters = args.condition ?? {};
  if (limit < 1 || !Number.isInteger(page) || page < 1 || !order) return undefined;
  // A filter by name takes an object for an operator and its value.
  if (Object.values(filters).some((value) => typeof value === "object" && value !== null)) return undefined;
  const count = plain.members.some(({ is }) => is === "totalCount") ? undefined : "none";
  return shapeOfList(crud, { limit, page, ...order, filters, select: selectOf(plain) }, count);
}

/**
 * A list by name has one order, and that of the id in the same direction. PostgreSQL puts null first in a descending
 * order of GraphQL, and last in a list by name.
 */
function orderOf({ orders, table: { crud } }: PlainDocument, orderBy: unknown): Arguments | undefined {
  const [first, second, ...others] = Array.isArray(orderBy) ? orderBy.map((value) => orders.get(value)) : [];
  if (!first || others.length > 0) return undefined;
  const [property, direction] = first;
  const isById = property === "id" ? !second : second?.[0] === "id" && second[1] === direction;
  const column = findColumn(crud, property);
  if (!column || !isById || (direction === "desc" && !column.notNull)) return undefined;
  return { orderBy: property, orderDir: direction };
}
