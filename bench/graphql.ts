/**
 * The same rows by GraphQL and by name, and PostGraphile 5 alone, which verifies the same token, but keeps no transaction
 * around a request. Ratios are to the calls by name.
 * Next hop: `lists/setting.ts` makes the database, `lists/sides.ts` asks PostGraphile.
 */
import { join } from "node:path";
import { fill } from "./lists/rows.ts";
import { createSetting } from "./lists/setting.ts";
import { ask, postgraphileSide, type Side, svcSide } from "./lists/sides.ts";
import { interleave, report } from "./measure.ts";
import { contestant } from "./process.ts";

const columns = "id userId title done priority createdAt updatedAt";

/** What is measured: by name, and in GraphQL with this service's names for things. */
const cases = [
  {
    title: "list of 20 with total",
    named: { path: "/api/query", body: { name: "items.list", args: {} } },
    graphql: `{ items { totalCount nodes { ${columns} } } }`,
  },
  {
    title: "one row",
    named: (id: number) => ({ path: "/api/query", body: { name: "items.get", args: { id } } }),
    graphql: (id: number) => `{ item(id: ${id}) { ${columns} } }`,
  },
  {
    title: "update",
    named: (id: number) => ({ path: "/api/mutation", body: { name: "items.update", args: { id, title: "changed" } } }),
    graphql: (id: number) => `mutation { updateItem(id: ${id}, patch: { title: "changed" }) { ${columns} } }`,
  },
];

export async function run(): Promise<void> {
  const setting = await createSetting();
  const peer = join(import.meta.dirname, "peers/postgraphile.ts");
  const given = [setting.cluster.urls.request, `${setting.svc.url}/api/auth/jwks`, setting.svc.url];
  const postgraphile = await contestant([peer, ...given], { NODE_ENV: "production" });
  try {
    const user = await setting.user("user");
    await fill(setting.admin, "items", 100_000, user.id);
    await setting.renew([user]);
    const named = svcSide(setting.svc);
    const peerSide = postgraphileSide(postgraphile);
    const { rows } = await setting.admin.query("select id from items where user_id = $1 limit 1", [user.id]);
    const id: number = rows[0].id;

    const side = (from: Side, name: string, request: Side["list"]) => ({
      name,
      process: from.process,
      path: request({}).path,
      headers: from.headers(user),
      body: () => JSON.stringify(request({}).body),
    });
    for (const one of cases) {
      const byName = typeof one.named === "function" ? one.named(id) : one.named;
      const query = typeof one.graphql === "function" ? one.graphql(id) : one.graphql;
      const byGraphql = { path: "/api/graphql", body: { query } };
      await ask(named, user, byGraphql);
      const isList = one.title.startsWith("list");
      const results = await interleave(
        [
          ...(isList ? [side(peerSide, "postgraphile", peerSide.list)] : []),
          side(named, "graphql", () => byGraphql),
          side(named, "by name", () => byName),
        ],
        { rounds: 5, seconds: 2 },
      );
      report(one.title, results);
    }
  } finally {
    await postgraphile.stop();
    await setting.close();
  }
}
