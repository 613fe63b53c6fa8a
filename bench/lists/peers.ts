/** svc against PostGraphile 5 and hand-written Express + Drizzle on the table of a million rows, taking turns. */
import { join } from "node:path";
import { interleave, type Runner, report } from "../measure.ts";
import { contestant } from "../process.ts";
import { stock } from "./rows.ts";
import type { Setting, User } from "./setting.ts";
import { ask, drizzleSide, type ListArguments, postgraphileSide, type Side, svcSide } from "./sides.ts";

const rounds = 3;
const seconds = 2;
/** Rows that a contestant removes in a slice. autocannon prepares a request more per connection than it sends. */
const removals = 1000;
const spare = 32;

const filters = { done: true, priority: 6 };

export async function comparePeers(setting: Setting, user: User, other: User): Promise<void> {
  const { cluster, svc, admin } = setting;
  const peer = (file: string) => join(import.meta.dirname, "../peers", file);
  const given = [cluster.urls.request, `${svc.url}/api/auth/jwks`, svc.url];
  const drizzle = await contestant([peer("drizzle.ts"), ...given]);
  const postgraphile = await contestant([peer("postgraphile.ts"), ...given], { NODE_ENV: "production" });
  const sides = [svcSide(svc), postgraphileSide(postgraphile), drizzleSide(drizzle)];
  try {
    const ids = await checkAnswers(sides, user, other);
    const race = async (
      title: string,
      request: (side: Side) => ReturnType<Side["remove"]>,
      as: User,
      amount?: number,
    ) => {
      const runners = sides.map((side) => runner(side, as, () => request(side)));
      report(title, await interleave(runners, { rounds, seconds, ...(amount && { amount }) }));
    };
    await race("list of 20 with total", (side) => side.list({}), user);
    await race("the same, filtered: 34 of 1,000 rows", (side) => side.list({ filters }), user);
    await checkUpdates(setting, sides, user, ids[0] ?? 0);
    let turn = 0;
    await race("update", (side) => side.update(ids[turn++ % ids.length] ?? 0, `by ${side.name}`), user);

    const each = (removals + spare) * (rounds + 1);
    const rows = await stock(admin, other.id, each * sides.length);
    await race("remove", (side) => side.remove(rows.pop() ?? 0), other, removals);
    const left = await admin.query("select count(*)::int as n from items where user_id = $1", [other.id]);
    const removed = each * sides.length - left.rows[0].n;
    if (removed !== removals * (rounds + 1) * sides.length) throw new Error(`only ${removed} rows were removed`);
  } finally {
    await Promise.all([drizzle.stop(), postgraphile.stop()]);
  }
}

function runner(side: Side, user: User, request: () => ReturnType<Side["remove"]>): Runner {
  return {
    name: side.name,
    process: side.process,
    path: request().path,
    headers: side.headers(user),
    body: () => JSON.stringify(request().body),
  };
}

/** The same rows and totals from everybody, and none for a second tenant. @returns ids of the user's newest rows */
async function checkAnswers(sides: Side[], user: User, other: User): Promise<number[]> {
  const lists: ListArguments[] = [{}, { filters }];
  const answers = async (side: Side, as: User) =>
    Promise.all(lists.map(async (args) => side.read(await ask<never>(side, as, side.list(args)))));
  const expected = await answers(sides[0] as Side, user);
  for (const side of sides) {
    const got = await answers(side, user);
    if (JSON.stringify(got) !== JSON.stringify(expected)) {
      throw new Error(`${side.name} answers ${JSON.stringify(got)}, not ${JSON.stringify(expected)}`);
    }
    const theirs = await answers(side, other);
    if (theirs.some(({ ids, total }) => ids.length > 0 || total > 0)) throw new Error(`${side.name}: no isolation`);
  }
  const [page, filtered] = expected;
  if (page?.total !== 1000 || page.ids.length !== 20 || filtered?.total !== 34) {
    throw new Error(`unexpected totals: ${page?.total}, ${filtered?.total}`);
  }
  return page.ids;
}

/** GraphQL answers 200 to what failed, so each one's update is looked up before it is measured. */
async function checkUpdates({ admin }: Setting, sides: Side[], user: User, id: number): Promise<void> {
  for (const side of sides) {
    await ask(side, user, side.update(id, `by ${side.name}`));
    const { rows } = await admin.query("select title from items where id = $1", [id]);
    if (rows[0]?.title !== `by ${side.name}`) throw new Error(`${side.name} did not update: ${rows[0]?.title}`);
  }
}
