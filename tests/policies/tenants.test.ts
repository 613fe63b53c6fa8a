// If this file fails, one of fifty tenants can read, count or change another tenant's rows by some call. The calls are
// random, and every answer is compared with a simple model of access.
import { symmetricDecrypt } from "better-auth/crypto";
import { decodeJwt, decodeProtectedHeader, importJWK, SignJWT } from "jose";
import { beforeAll, expect, test } from "vitest";
import type { CrudDefinition } from "../../src/contract/crud.ts";
import { crudFile } from "../../src/crud/crud-sql.ts";
import { createCrudFactory, defineApi } from "../../src/index.ts";
import { crud, procedure } from "../fixture/backend/index.ts";
import * as schema from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { type Answer, apiWith, secret, service, type User } from "../support/service.ts";
import { found, isGone, orderOf, owners, owns, type Row, rowsOf, sees, teamsOf, textOf } from "./tenants-model.ts";

const runs = Math.min(Number(process.env.FUZZ_RUNS ?? 1500), 20_000);
const seed = Number(process.env.FUZZ_SEED ?? 20260101);

const createCrud = createCrudFactory(procedure);
const counts = { measures: ["count"] } as const;
// The fixture's private tables have neither filters nor search; a count could disclose hidden rows by both.
// biome-ignore format: a table
const wide = {
  wideNotes: createCrud(schema.notes, { prefix: "wide_notes", many: true, aggregate: counts, searchFields: ["title"], allowedFilters: ["title", "done", "priority", "userId", "createdAt"] }),
  wideFlags: createCrud(schema.flags, { prefix: "wide_flags", many: true, aggregate: counts, searchFields: ["label"], allowedFilters: ["label", "gone", "userId"], softDelete: { field: "gone" } }),
  wideBoards: createCrud(schema.boards, { prefix: "wide_boards", many: true, aggregate: counts, searchFields: ["name"], allowedFilters: ["name", "teamId"] }),
};
const { notes, flags, articles, plainArticles, boards, memberships } = crud;
const procedures = { notes, flags, articles, plainArticles, boards, memberships, ...wide };
const resources = defineApi({ procedures })["~svc"].crud;
const tables = resources.filter(({ prefix, table }) => prefix === table);

const db = database();
beforeAll(async () => {
  const functions = resources.filter(({ prefix }) => prefix.startsWith("wide_")).map(crudFile);
  await db.sql(`set role svc_owner; ${functions.join("\n")} reset role; set timezone = 'UTC'`);
});
const svc = service(db, apiWith({ procedures: wide }));

/** Pseudo-random numbers by a seed: a xorshift. Only ids that the service creates differ each time. */
let state = seed || 1;
function random(): number {
  for (const by of [13, -17, 5]) state ^= by > 0 ? state << by : state >>> -by;
  return (state >>> 0) / 2 ** 32;
}
const below = (limit: number) => Math.floor(random() * limit);
const pick = <T>(items: readonly T[]) => items[below(items.length)] as T;

// Fifty owners with 20 rows per table. Six have signed up with the service, and call.
interface Caller {
  who: string;
  /** The user of the credential; null for an invalid one. */
  id: string | null;
  user: User | null;
}
const callers: Caller[] = [];
const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString().replace(".000Z", "+00:00");
const two = (number: number) => String(number).padStart(2, "0");
const hex = (length = 32) => Array.from({ length }, () => below(16).toString(16)).join("");
const uuid = () => [8, 4, 4, 4, 12].map(hex).join("-");

beforeAll(async () => {
  const users: User[] = [];
  for (let index = 0; index < 6; index++) users.push(await svc.signUp(`caller${index}`));
  owners.push(...users.map(({ id }) => id), ...Array.from({ length: 44 }, () => hex()));
  const accounts = `insert into auth."user" (id, name, email) select id, 'o', id || '@example.com' from unnest($1::text[]) as id`;
  await db.sql(accounts, [owners.slice(6)]);
  const empty = { body: "", mood: null, rank: null, price: null, day: null, published: false, publishedAt: null };
  for (const [number, userId] of owners.entries()) {
    const teamId = `team${two(number % 10)}`;
    rowsOf("memberships").push({ id: 2 * number + 1, teamId, userId });
    rowsOf("memberships").push({ id: 2 * number + 2, teamId: `team${two((number * 7 + 3) % 10)}`, userId });
    for (let index = 0; index < 20; index++) {
      const id = number * 20 + index + 1;
      // Every private text names its owner or team, so that a leak is visible in any body, whatever its form.
      const text = `own${two(number)}n${two(index)}`;
      const createdAt = at(below(600)); // with ties
      const times = { createdAt, updatedAt: createdAt };
      const deletedAt = random() < 0.3 ? at(2) : null;
      const shown = { title: `public${two(number)}n${two(index)}`, priority: pick([null, 1, 2]), deletedAt };
      rowsOf("notes").push({ id, userId, title: text, done: random() < 0.5, priority: below(5), ...times });
      rowsOf("flags").push({ id: `flag-${uuid()}`, userId, label: text, gone: random() < 0.3 });
      rowsOf("boards").push({ id, teamId, name: `${teamId}n${two(number)}${two(index)}` });
      rowsOf("articles").push({ id: uuid(), userId, ...empty, ...shown, ...times });
    }
  }
  for (const { table, columns } of tables) {
    const rows = rowsOf(table).map((row) => Object.fromEntries(columns.map((one) => [one.name, row[one.property]])));
    const insert = `insert into ${table} select * from jsonb_populate_recordset(null::${table}, $1)`;
    await db.sql(insert, [JSON.stringify(rows)]);
  }
  for (const table of ["notes", "boards", "memberships"]) await db.sql(`select setval('${table}_id_seq', 100000)`);

  // Tokens by the service's own key: valid ones that outlast a long run, and an expired one.
  const [key] = await db.sql<{ private_key: string }>("select private_key from auth.jwks");
  const data = JSON.parse(key?.private_key ?? "");
  const version = Number(data.split("$")[2]);
  const secrets = { keys: new Map([[version, secret]]), currentVersion: version };
  const privateKey = await importJWK(JSON.parse(await symmetricDecrypt({ key: secrets, data })), "EdDSA");
  const signed = ({ token }: User, lifetime: number) => {
    const iat = Math.floor(Date.now() / 1000) - 400;
    const claims = { ...decodeJwt(token), iat, exp: iat + 400 + lifetime };
    return new SignJWT(claims).setProtectedHeader(decodeProtectedHeader(token) as never).sign(privateKey as CryptoKey);
  };
  for (const [index, user] of users.entries()) {
    callers.push({ who: `caller${index}`, id: user.id, user: { ...user, token: await signed(user, 36_000) } });
  }
  const first = users[0] as User;
  // A second session: with the first one, all of the caller's tokens would end.
  const other = (await svc.post("/api/auth/sign-in", { email: first.email, password: "correct horse" })).body;
  await svc.post("/api/auth/sign-out", {}, { ...first, token: other.sessionToken });
  callers.push({ who: "anonymous", id: null, user: null });
  callers.push({ who: "expired", id: null, user: { ...first, token: await signed(first, -1) } });
  callers.push({ who: "signed out", id: null, user: { ...first, token: other.sessionToken } });
});

type Many = "createMany" | "updateMany" | "removeMany" | "aggregate";

interface Call {
  caller: Caller;
  resource: CrudDefinition;
  operation: "list" | "get" | "create" | "update" | "remove" | Many;
  args: Row;
}
/** A list that can be continued: the next call, and the last row of the previous page. */
interface Walk {
  call: Call;
  last: Row;
}
const walks: Walk[] = [];
const past = "2020-01-01T00:00:00Z";
const absentId = (id: unknown) => (typeof id === "number" ? 2_000_000_000 : (id as string).replace(/[0-9a-f]/g, "0"));

function randomFilters(resource: CrudDefinition, depth = 0): Row {
  const entries = Array.from({ length: below(3) }, (): [string, unknown] => {
    if (random() < 0.25 && depth < 2) {
      return [pick(["OR", "AND"]), Array.from({ length: 1 + below(3) }, () => randomFilters(resource, depth + 1))];
    }
    const property = pick([...resource.allowedFilters, "id", "nonsense"]);
    const one = pick(rowsOf(resource.table))[property] ?? null; // of any owner, as a probe would ask
    const op = pick(["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin", "like", "ilike"]);
    const value = op.endsWith("in") ? [one] : op.endsWith("like") ? `${String(one).slice(0, 5)}%` : one;
    return [property, pick([one, { op, value }])];
  });
  return Object.fromEntries(entries);
}

function randomCall(): Call {
  const caller = random() < 0.8 ? pick(callers.slice(0, 6)) : pick(callers.slice(6));
  const resource = pick(resources);
  const { table, columns } = resource;
  const many: Many[] = resource.methods.includes("createMany")
    ? ["createMany", "updateMany", "removeMany", "aggregate"]
    : [];
  const operation = pick([
    "list",
    "list",
    "list",
    "get",
    "get",
    "create",
    "update",
    "update",
    "remove",
    ...many,
  ] as const);
  if (operation === "list") {
    const args: Row = { page: pick([undefined, 1, 2, 5, 99, -1]), limit: pick([undefined, 1, 7, 100, 0, 1000]) };
    if (random() < 0.5) args.filters = randomFilters(resource);
    if (random() < 0.3) args.search = pick(["own0", "OWN03N", "n1", "team03", "public02", "%", "absent"]);
    if (random() < 0.5) args.orderBy = pick([...columns.map(({ property }) => property), "nonsense"]);
    if (random() < 0.5) args.orderDir = pick(["asc", "desc"]);
    if (random() < 0.4) args.cursor = null;
    return { caller, resource, operation, args };
  }
  const own = rowsOf(table).filter((row) => owns(table, row, caller.id));
  const { id } = own.length > 0 && random() < 0.5 ? pick(own) : pick(rowsOf(table));
  const args: Row = { id: random() < 0.1 ? absentId(id) : id };
  if (operation === "get" || operation === "remove") return { caller, resource, operation, args };
  if (operation === "createMany") {
    const rows = Array.from({ length: below(4) }, () => randomRow(resource, caller));
    return { caller, resource, operation, args: { rows } };
  }
  if (operation === "updateMany" || operation === "removeMany" || operation === "aggregate") {
    const text = textOf[table] ?? "";
    const value = String(pick(own.length > 0 && random() < 0.5 ? own : rowsOf(table))[text]);
    const filters = pick<Row>([
      { [text]: value },
      { [text]: { op: "like", value: `${value.slice(0, 8)}%` } },
      { nonsense: 1 },
    ]);
    if (operation === "aggregate") return { caller, resource, operation, args: { ...counts, filters } };
    const made = randomRow(resource, caller);
    const set = { [text]: made[text], ...(table === "boards" && { teamId: made.teamId }) };
    const max = pick([1, 3, 10_000]);
    return { caller, resource, operation, args: { filters, max, ...(operation === "updateMany" && { set }) } };
  }
  Object.assign(args, randomRow(resource, caller));
  if (operation === "update") args.ifUnmodifiedSince = pick([undefined, undefined, past, "2199-01-01T00:00:00Z"]);
  return { caller, resource, operation, args };
}

/** The values of a row, with some that a caller cannot set. */
function randomRow({ table, softDelete }: CrudDefinition, caller: Caller): Row {
  const args: Row = {};
  const team = `team${two(below(11))}`;
  const mark = { boards: team, articles: "public" }[table] ?? `own${two(owners.indexOf(caller.id ?? ""))}`;
  if (textOf[table]) args[textOf[table]] = `${mark}new${below(100)}`;
  if (table === "boards" || table === "memberships") args.teamId = team;
  if (table === "notes") args.priority = below(5);
  return Object.assign(args, { userId: pick(owners), createdAt: at(0) }, softDelete && { [softDelete.property]: true });
}

/** The expected answer, and the effect of the call on the model. */
interface Expected {
  status: number;
  json?: unknown;
  change?: (answered: Row) => unknown;
}

function expected({ caller: { id }, resource, operation, args }: Call, walk: Walk | undefined): Expected {
  const { prefix, table, softDelete } = resource;
  if (id === null && !(prefix === "articles" && ["list", "get"].includes(operation))) return { status: 401 };
  if (operation === "list") {
    if (walk && walk.call.caller.id !== id) return { status: 400 }; // another user's cursor
    const all = found(resource, id, args).sort(orderOf(resource, args));
    const rest = walk ? all.filter((row) => orderOf(resource, args)(row, walk.last) > 0) : all;
    const limit = Math.min(Math.max((args.limit as number) ?? 20, 1), 100);
    const start = "cursor" in args ? 0 : (Math.max((args.page as number) ?? 1, 1) - 1) * limit;
    const next = "cursor" in args && { nextCursor: rest.length > limit ? expect.any(String) : null };
    return { status: 200, json: { data: rest.slice(start, start + limit), total: all.length, ...next } };
  }
  if (operation === "createMany") {
    const rows = args.rows as Row[];
    const each = rows.map((row) =>
      expected({ caller: { id } as Caller, resource, operation: "create", args: row }, undefined),
    );
    const refused = each.find(({ status }) => status !== 200);
    if (refused) return refused;
    const change = (answered: Row) => rowsOf(table).push(...(answered.data as Row[]));
    return { status: 200, json: { count: rows.length, data: each.map(({ json }) => json) }, change };
  }
  if (operation === "aggregate") {
    if ("nonsense" in (args.filters as Row)) return { status: 400 };
    return { status: 200, json: { data: [{ count: found(resource, id, args).length }], hasMore: false } };
  }
  if (operation === "updateMany" || operation === "removeMany") {
    const { filters, max, set } = args as { filters: Row; max: number; set: Row };
    const changed = found(resource, id, { filters }).filter((row) => owns(table, row, id));
    if ("nonsense" in filters) return { status: 400 };
    if (set?.teamId && changed.length > 0 && !teamsOf(id).includes(set.teamId)) return { status: 403 };
    if (changed.length > max) return { status: 400 };
    const each = changed.map((row) =>
      operation === "updateMany"
        ? () => Object.assign(row, set)
        : expected({ caller: { id } as Caller, resource, operation: "remove", args: row }, undefined).change,
    );
    const change = async () => {
      for (const one of each) await one?.({});
      if (operation !== "updateMany" || changed.length === 0 || !("updatedAt" in (changed[0] as Row))) return;
      // Sets the time of the call, which the model does not know, to a known one.
      const ids = changed.map((row) => row.id);
      await db.sql(`update ${table} set updated_at = $2 where id = any ($1)`, [ids, at(4)]);
      for (const row of changed) row.updatedAt = at(4);
    };
    return { status: 200, json: { count: changed.length }, change };
  }
  const { id: rowId, teamId, priority, [textOf[table] ?? ""]: text } = args;
  const values = JSON.parse(JSON.stringify({ teamId, priority, [textOf[table] ?? ""]: text }));
  const isMember = table !== "boards" || teamsOf(id).includes(teamId);
  if (operation === "create") {
    if (!isMember) return { status: 403 };
    const deleted = softDelete && { [softDelete.property]: softDelete.kind === "boolean" ? false : null };
    const json = expect.objectContaining({ ...values, ...(table !== "boards" && { userId: id }), ...deleted });
    return { status: 200, json, change: (row) => rowsOf(table).push(row) };
  }
  const row = rowsOf(table).find((one) => one.id === rowId && sees(table, one, id) && !isGone(resource, one));
  if (operation === "get") return { status: 200, json: row ?? null };
  if (!row || !owns(table, row, id)) return { status: 404 };
  if (operation === "update") {
    if (args.ifUnmodifiedSince === past && "updatedAt" in row) return { status: 409 };
    if (!isMember) return { status: 403 };
    const json = { ...row, ...values, ...("updatedAt" in row && { updatedAt: expect.any(String) }) };
    return { status: 200, json, change: (answered) => Object.assign(row, answered) };
  }
  const change = async () => {
    if (!softDelete) return rowsOf(table).splice(rowsOf(table).indexOf(row), 1);
    row[softDelete.property] = softDelete.kind === "boolean" ? true : at(3);
    if (table !== "articles") return;
    // Sets the time of the call, which the model does not know, to a known one.
    await db.sql("update articles set deleted_at = $2 where id = $1 and deleted_at is not null", [rowId, at(3)]);
  };
  return { status: 200, json: { id: rowId }, change };
}

const send = ({ caller: { user }, resource: { prefix }, operation, args }: Call): Promise<Answer> =>
  ["list", "get", "aggregate"].includes(operation)
    ? svc.query(user, `${prefix}.${operation}`, args)
    : svc.mutate(user, `${prefix}.${operation}`, args);
/** An answer without its request's id, and without the requested row in a hint. */
const ofItself = ({ status, body: { requestId: _, hint, ...body } }: Answer) => ({
  status,
  body,
  hint: hint?.replace(/ --row \S+/, ""),
});
/** The owners and teams that private texts may name in an answer to this caller. */
const namesOf = (id: string | null) => (id === null ? [] : [`own${two(owners.indexOf(id))}`, ...teamsOf(id)]);

test("random calls show, count and change nothing that is not the caller's", { timeout: 3_600_000 }, async () => {
  const statuses = new Set<number>();
  for (let number = 0; number < runs; number++) {
    const walk = walks.length > 0 && random() < 0.1 ? pick(walks) : undefined;
    const call = walk ? { ...walk.call, ...(random() < 0.3 && { caller: pick(callers) }) } : randomCall();
    const { caller, resource, operation, args } = call;
    const what = `FUZZ_SEED=${seed}, call ${number}: ${caller.who} ${resource.prefix}.${operation} ${JSON.stringify(args)}`;
    const { status, json, change } = expected(call, walk);
    const names = namesOf(caller.id);

    const answer = await send(call);
    statuses.add(answer.status);
    expect({ status: answer.status, json: answer.body.json }, what).toEqual({ status, json });
    await change?.(answer.body.json);
    names.push(...namesOf(caller.id)); // joining a team shows its name
    const named = JSON.stringify(answer.body).match(/(own|team)\d\d/g) ?? [];
    expect(
      named.filter((name) => !names.includes(name)),
      what,
    ).toEqual([]);

    // Hidden, deleted and missing rows give the same answer.
    if (args.id !== undefined && (status === 404 || json === null)) {
      const absent = await send({ ...call, args: { ...args, id: absentId(args.id) } });
      expect(ofItself(answer), what).toEqual(ofItself(absent));
    }
    const { nextCursor: cursor, data } = answer.body.json ?? {};
    if (cursor) walks.push({ call: { ...call, args: { ...args, cursor } }, last: { ...data.at(-1) } });
  }
  // Every kind of answer occurred; otherwise the calls were not varied enough.
  if (runs >= 1000) expect([...statuses].sort()).toEqual([200, 400, 401, 403, 404, 409]);

  for (const { table, columns } of tables) {
    const stored = await db.sql<{ row: Row }>(`select row_to_json(t) as row from ${table} as t`);
    const rows = stored.map(({ row }) => Object.fromEntries(columns.map((one) => [one.property, row[one.name]])));
    const byId = (list: Row[]) => Object.fromEntries(list.map((row) => [String(row.id), row]));
    expect(byId(rows), `FUZZ_SEED=${seed}, ${table}`).toEqual(byId(rowsOf(table)));
  }
});
