// If this file fails, generated CRUD gives other related rows, filters or totals than a simple evaluation of all rows under
// the policies: rows are missing, or callers see or count rows of others.
import { isDeepStrictEqual } from "node:util";
import { beforeAll, expect, test } from "vitest";
import { crudFile } from "../../src/crud/crud-sql.ts";
import { defineApi } from "../../src/index.ts";
import { database } from "../support/database.ts";
import { apiWith, service, type User } from "../support/service.ts";
import { random } from "./random.ts";
import { type Call, expected } from "./relational-evaluator.ts";
import { randomCall } from "./relational-queries.ts";
import { everybody } from "./relational-schema.ts";
import type { Policy, Table } from "./relational-types.ts";
import { type World, world } from "./relational-world.ts";

const runs = Math.min(Number(process.env.FUZZ_RUNS ?? 300), 10_000);
const seed = Number(process.env.FUZZ_SEED ?? 20260101);
/** Creating tables takes longer than calls. */
const perWorld = runs > 1_000 ? 250 : 25;

const db = database();
const worlds = Array.from({ length: Math.ceil(runs / perWorld) }, (_, index) => world(seed + index));
const procedures = Object.assign({}, ...worlds.map((one) => one.procedures));
const users: User[] = [];
/** The tables have rows of users, and a service starts only where its tables are. */
const first = service(db);
beforeAll(async () => {
  for (const name of ["ann", "bob", "cid"]) users.push(await first.signUp(name));
  for (const user of users) user.token = user.sessionToken; // a JWT is for the origin of one service
  for (const one of worlds) await db.sql(one.fill(users.map(({ id }) => id)));
  await db.sql(defineApi({ procedures })["~svc"].crud.map(crudFile).join("\n"));
});
const running = service(db, apiWith({ procedures }));

/** Statuses and sizes of answers: agreement on empty answers would prove nothing. */
const met: Record<string, number> = {};
const meet = (what: string) => {
  met[what] = (met[what] ?? 0) + 1;
};

const hasRelated = (row: object) =>
  Object.values(row).some((value) => (Array.isArray(value) ? value.length > 0 : Object(value) === value));

/** The answers to a random call, and what they should be. @param without an argument to leave out. (Default: none) */
async function ask(one: World, number: number, without?: "include" | "filters") {
  const choices = random(one.seed * 100_000 + number);
  const user = choices.pick([...users, ...users, null]);
  const call = randomCall(one, choices);
  if (without) delete call.args[without];
  const { table, operation, args } = call;
  const name = `${table.name}.${operation}`;
  const answers: [given: unknown, wanted: unknown][] = [];
  for (let cursor: string | null | undefined = args.cursor, skipped = 0; ; ) {
    const sent = cursor === undefined ? args : { ...args, cursor };
    const wanted = expected(call, user?.id ?? null, cursor === undefined ? undefined : skipped);
    const { status, body } = await running.query(user, name, sent);
    const { nextCursor, ...json } = body.json ?? {};
    answers.push([status === 200 ? { status, json: body.json && json } : { status }, wanted]);
    if (status !== 200 || answers.length > 30) {
      return { user, call, name, answers, problem: status === 500 ? running.logged.at(-1) : body };
    }
    if (!nextCursor) return { user, call, name, answers, json };
    cursor = nextCursor as string;
    skipped += json.data.length;
  }
}

test("random calls give what an evaluation of all rows under the policies gives", {
  timeout: 3_600_000,
}, async () => {
  for (const one of worlds) {
    const policies = one.tables.map(({ name, policy, options }) => [name, policy.what, options?.softDelete]);
    for (let number = 0; number < perWorld; number++) {
      const { user, call, name, answers, json, problem } = await ask(one, number);
      const { operation, args } = call;
      for (const [given, wanted] of answers) {
        const about = { seed: `FUZZ_SEED=${one.seed}, case ${number}`, who: user?.id, name, args, policies, problem };
        expect(given, JSON.stringify(about)).toEqual(wanted);
      }
      meet(`${operation} ${(answers[0] as [{ status: number }, unknown])[0].status}`);
      if (json && operation !== "aggregate" && [json.data ?? json].flat().some(hasRelated)) meet("related rows");
      if (json?.total > 0 && args.filters) meet("rows that match filters");
      if (answers.length > 1) meet("several pages");
    }
  }
  for (const what of [
    "list 200",
    "get 200",
    "aggregate 200",
    "list 401",
    "related rows",
    "rows that match filters",
    "several pages",
  ]) {
    expect(met[what], `${what} of ${JSON.stringify(met)}`).toBeGreaterThan(runs / 50);
  }
});

/** Policies that show other rows. */
const mutants: Record<string, (policy: Policy) => Pick<Policy, "roles" | "using">> = {
  everything: () => ({ roles: everybody, using: "true" }),
  "the opposite": ({ roles, using }) => ({ roles, using: `(${using}) is not true` }),
  nothing: ({ roles }) => ({ roles, using: "false" }),
};
/** How a call reaches rows of a table. */
function reach(mutated: Table, { table, operation, args }: Call): string {
  if (table === mutated) return operation;
  return args.include ? "include" : "filters";
}

test("a policy that shows other rows is noticed in every kind of call", { timeout: 3_600_000 }, async () => {
  const kinds = ["list", "get", "aggregate", "include", "filters"];
  const noticed = new Set<string>();
  const areAllNoticed = () => kinds.every((kind) => noticed.has(kind));
  let [tried, survived] = [0, 0];
  for (const [index, one] of worlds.entries()) {
    // Two worlds seldom have no filter that reaches a table with a policy.
    if (index >= 2 && areAllNoticed()) break;
    for (const table of one.tables.filter(({ policy, rows }) => policy.what !== "public" && rows.length > 0)) {
      const change = ({ roles, using }: Pick<Policy, "roles" | "using">) =>
        db.sql(`alter policy ours on ${table.name} to ${roles} using (${using})`);
      for (const mutate of Object.values(mutants)) {
        await change(mutate(table.policy));
        let isNoticed = false;
        for (let number = 0; number < 60 && !(isNoticed && areAllNoticed()); number++) {
          const { call, answers } = await ask(one, number, number % 2 ? "include" : "filters");
          if (answers.every((answer) => isDeepStrictEqual(...answer))) continue;
          isNoticed = true;
          noticed.add(reach(table, call));
        }
        await change(table.policy);
        tried += 1;
        if (!isNoticed) survived += 1;
      }
    }
  }
  expect([...noticed]).toEqual(expect.arrayContaining(kinds));
  // A caller may be stopped before the policy: one that serves the signed in, of a resource for these alone.
  expect(survived, `of ${tried}`).toBeLessThan(tried / 3);
});
