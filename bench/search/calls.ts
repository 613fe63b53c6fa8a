/**
 * A keyword search as a call of the service, beside the statement of that call sent by `pg` alone: processor time of Node and of
 * PostgreSQL. The same with snippets, beside the two statements of that call, and beside `ts_headline` over the same rows.
 * And the search beside `ts_rank`, both as a signed-in user.
 * Next hop: `service.ts`, the service.
 */
import { join } from "node:path";
import pg from "pg";
import type { Cluster } from "../../src/cluster/types.ts";
import { alternate, median } from "../measure.ts";
import { contestant, serverCpu } from "../process.ts";

const limits = [10, 100];
const rounds = 5;
const sliceMs = 1_000;
/** So many calls at once: what the service does beside calls then counts little. */
const atOnce = 8;

const scope = JSON.stringify({ corpus: "bench", visibility: "public", owner: null });
const target = JSON.stringify({ table: '"public"."passages"' });
const search = "svc.search_keyword($1, '{body}', $2, $3, '[]', $4, 0)";
const statement = {
  name: "statement",
  text: `with found as (select id, score, ordinality from ${search} with ordinality)
    select found.id as key, score, t.id, body, corpus, visibility, user_id
      from passages t join found on found.id = t.id::text
     where t.id = any ((select array_agg(id) from found)::integer[]) order by ordinality`,
};
const alone = { name: "alone", text: `select id, score from ${search}` };
const snippets = {
  name: "snippets",
  text: "select id, field, parts from svc.search_snippets($1, '{body}', $2, false, $3)",
};
const headlines = {
  name: "headlines",
  text: `select f.id, ts_headline('english', t.body, to_tsquery('english', replace($2, ' ', '|')))
      from (select array_agg(id) as ids from ${search}) as s cross join unnest(s.ids) as f (id)
      join passages t on t.id = any (s.ids::integer[]) and t.id::text = f.id`,
};

interface Side {
  name: string;
  atOnce: number;
  /** @returns the number of rows */
  ask(query: string): Promise<number>;
  /** Processor time of Node so far, in microseconds. */
  cpu(): number;
}

/**
 * @param bands queries by name; each is asked for in turn
 * @param byHand a statement with `ts_rank`, over words joined by |
 */
export async function compareCalls(
  cluster: Cluster,
  client: pg.Client,
  bands: Record<string, string[]>,
  byHand: string,
): Promise<void> {
  const database = (await client.query<{ name: string }>("select current_database() as name")).rows[0]?.name;
  const entries = Object.entries(cluster.urls).map(([login, address]) => {
    const url = new URL(address);
    url.pathname = `/${database}`;
    return [login, url.href];
  });
  const urls: Cluster["urls"] = Object.fromEntries(entries);
  await client.query(`
    alter table passages enable row level security;
    create policy select_public on passages for select to svc_anonymous, svc_authenticated using (visibility = 'public');
    grant select on passages to svc_anonymous, svc_authenticated`);
  const service = await contestant([join(import.meta.dirname, "service.ts"), JSON.stringify(urls)]);
  const bare = new pg.Client({ connectionString: urls.request });
  try {
    await enter(service.url, "sign-up");
    let token = "";
    await bare.connect();
    await bare.query("select set_config('svc.user_id', 'ann', false), set_config('role', 'svc_authenticated', false)");
    for (const [band, queries] of Object.entries(bands)) await compareAsUser(bare, band, queries, byHand);
    for (const limit of limits) {
      const send = async (config: pg.QueryConfig, query: string) =>
        (await bare.query(config, [target, query, scope, limit])).rows.length;
      const own = () => process.cpuUsage().user + process.cpuUsage().system;
      const sides: Side[] = [
        { name: "call", atOnce, ask: (query) => call(service.url, token, query, limit), cpu: () => service.cpu() },
        { name: "its statement", atOnce: 1, ask: (query) => send(statement, query), cpu: own },
        { name: "the search in it", atOnce: 1, ask: (query) => send(alone, query), cpu: own },
      ];
      const withSnippets: Side[] = [
        {
          name: "call",
          atOnce,
          ask: (query) => call(service.url, token, query, limit, true),
          cpu: () => service.cpu(),
        },
        {
          name: "its statements",
          atOnce: 1,
          async ask(query) {
            const { rows } = await bare.query(statement, [target, query, scope, limit]);
            return (await bare.query(snippets, [target, query, rows.map(({ key }) => key)])).rows.length;
          },
          cpu: own,
        },
        { name: "ts_headline by hand", atOnce: 1, ask: (query) => send(headlines, query), cpu: own },
      ];
      for (const [band, queries] of Object.entries(bands)) {
        token = await enter(service.url, "sign-in"); // a token holds some minutes
        await compare(`${band}, limit ${limit}`, sides, queries, cluster);
        if (limit === 100)
          await compare(`${band}, limit ${limit}, with snippets`, withSnippets, queries.slice(0, 5), cluster);
      }
    }
  } finally {
    await bare.end();
    await service.stop();
  }
}

/**
 * The best 10, as a signed-in user. `@@` is not leakproof, so below a policy PostgreSQL cannot use an index for it, and compares
 * each row that the policy shows.
 */
async function compareAsUser(bare: pg.Client, band: string, queries: string[], byHand: string): Promise<void> {
  let turn = 0;
  const next = () => queries[Math.floor(turn++ / 2) % queries.length] ?? "";
  const [ours = Number.NaN, theirs = Number.NaN] = await alternate(
    [() => bare.query(alone, [target, next(), scope, 10]), () => bare.query(byHand, [next().replaceAll(" ", "|")])],
    20,
  );
  console.info(
    `${band}, best 10 as a user: search ${ours.toFixed(2)} ms, ts_rank ${theirs.toFixed(1)} ms, ratio ${(theirs / ours).toFixed(1)}`,
  );
}

/** Sides take turns; in a slice, each asks all queries equally often. */
async function compare(title: string, sides: Side[], queries: string[], cluster: Cluster): Promise<void> {
  const costs = new Map(sides.map(({ name }) => [name, { node: [] as number[], database: [] as number[] }]));
  const found = new Set<number>();
  for (let round = -1; round < rounds; round++) {
    for (const { name, atOnce, ask, cpu } of sides) {
      const before = { node: cpu(), database: serverCpu(cluster) };
      const end = performance.now() + sliceMs;
      let asked = 0;
      let rows = 0;
      while (performance.now() < end) {
        const left = queries.toReversed();
        const work = async () => {
          for (let query = left.pop(); query !== undefined; query = left.pop()) {
            const found = await ask(query); // apart: += reads its left side before it waits
            rows += found;
          }
        };
        await Promise.all(Array.from({ length: atOnce }, work));
        asked += queries.length;
      }
      found.add(rows / asked);
      if (round < 0) continue; // warm-up: connections and plans
      costs.get(name)?.node.push((cpu() - before.node) / asked);
      costs.get(name)?.database.push((serverCpu(cluster) - before.database) / asked);
    }
  }
  if (found.size > 1) throw new Error("the answers differ");
  const both = [...costs].map(([name, { node, database }]) => ({
    name,
    node: median(node),
    database: median(database),
  }));
  const sums = both.map(({ node, database }) => node + database);
  const ratio = (place: number) => ((sums[0] ?? 0) / (sums[place] ?? 0)).toFixed(2);
  console.info(
    `${title}, ${[...found][0]?.toFixed(0)} rows: ` +
      both.map(({ name, ...one }) => `${name} ${one.node.toFixed(0)} + ${one.database.toFixed(0)}`).join(", ") +
      ` us (Node + PostgreSQL); call ÷ ${both[1]?.name} ${ratio(1)}, ÷ ${both[2]?.name} ${ratio(2)}`,
  );
}

async function call(url: string, token: string, query: string, limit: number, snippets = false): Promise<number> {
  const response = await fetch(`${url}/api/query`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: JSON.stringify({ name: "passages.search", args: { query, limit, snippets } }),
  });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  const { json } = (await response.json()) as { json: { items: unknown[] } };
  return json.items.length;
}

/** @returns a token */
async function enter(url: string, door: "sign-up" | "sign-in"): Promise<string> {
  const response = await fetch(`${url}/api/auth/${door}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      email: "bench@example.com",
      password: "correct horse battery",
      ...(door === "sign-up" && { name: "bench" }),
    }),
  });
  return ((await response.json()) as { token: string }).token;
}
