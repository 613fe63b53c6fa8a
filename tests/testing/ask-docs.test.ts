// If this file fails, the demo answers questions of newcomers with a page that does not have the answer.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createTestApp, type TestApp } from "@svc/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { api } from "../../examples/desk/web/svc/api.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";
import { testServer } from "../support/test-server.ts";

const db = database("template0");
let app: TestApp<typeof api>;
beforeAll(async () => {
  testServer(db);
  app = await createTestApp({ api, cwd: join(root, "examples/desk"), log: "silent" });
  await app.anonymous().mutate(api.docs.prepare);
  await app.flushJobs();
});
afterAll(() => app?.close());

const folder = join(root, "docs");
const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".md"));
const pageOf = new Map(
  names.map((name) => [/^# (.+)$/m.exec(readFileSync(join(folder, name), "utf8"))?.[1] ?? name, name.slice(0, -3)]),
);

/** Questions as newcomers type them, and the pages of which one must be the first answer. */
const questions: [question: string, ...pages: string[]][] = [
  ["how to do a join", "how-to/query-your-data", "reference/crud", "how-to/questions"],
  ["how do I do an upsert?", "how-to/query-your-data", "reference/crud"],
  ["many-to-many", "how-to/query-your-data", "reference/crud"],
  ["how do transactions work", "how-to/query-your-data", "reference/procedures", "explanation/request"],
  ["how can I call an external API", "how-to/call-another-service", "how-to/questions"],
  ["send an email", "how-to/mail", "how-to/questions", "how-to/call-another-service"],
  ["run a cron job every night", "reference/jobs", "how-to/questions"],
  ["pagination", "reference/crud", "how-to/questions"],
  ["infinite scroll in React", "how-to/infinite-lists"],
  ["upload a file from React", "how-to/uploads", "reference/react", "how-to/questions", "reference/storage"],
  ["Next.js", "how-to/server-rendering", "reference/bridge", "explanation/sessions", "tutorial/first-application"],
  ["RBAC roles", "how-to/questions", "how-to/staff-and-customers", "explanation/roles"],
  ["multi tenant", "how-to/questions", "how-to/teams"],
  ["how do I write tests", "how-to/test-your-application", "reference/testing"],
  ["how to deploy", "how-to/deploy", "how-to/deploy-on-a-vps", "how-to/container-hosts"],
  ["how do I leave svc", "how-to/leave-svc"],
  ["does it run serverless", "how-to/questions"],
  ["soft delete", "reference/crud"],
  ["how do I add a column", "how-to/change-the-schema", "tutorial/first-application"],
  ["rate limiting", "reference/limits", "reference/authentication"],
  ["how often is a failed job retried", "reference/jobs", "reference/retry", "how-to/workers"],
  ["websocket connection", "reference/realtime", "explanation/realtime", "reference/client"],
  ["full text search", "how-to/search-a-table", "reference/search", "explanation/search"],
  [
    "vector search with embeddings",
    "reference/search",
    "how-to/search-a-table",
    "explanation/search",
    "how-to/ai-providers",
  ],
  ["maximum file size", "reference/limits", "reference/storage", "how-to/uploads"],
  ["reset password", "reference/authentication", "how-to/questions", "how-to/mail"],
  ["sign in with Google", "how-to/google-sign-in"],
  ["CORS error", "reference/origins", "how-to/find-out-what-is-wrong"],
  ["environment variables", "reference/configuration"],
  ["how do I make a backup", "how-to/back-up"],
  ["scale to more servers", "how-to/scale", "how-to/questions"],
  ["move from Prisma", "how-to/from-prisma"],
  ["migrate from Supabase", "how-to/from-supabase"],
  ["move from Convex", "how-to/from-convex"],
  ["OpenAPI specification", "reference/openapi", "how-to/generate-a-client"],
  ["GraphQL query", "how-to/graphql", "reference/graphql"],
  ["optimistic update", "reference/react"],
  ["realtime subscription", "reference/realtime", "how-to/live-pages", "explanation/realtime"],
  ["webhook signature", "reference/http-routes"],
  ["resize images", "reference/storage", "how-to/uploads"],
  ["convert PDF to text", "reference/documents", "reference/cli"],
  ["long running workflow waits for approval", "reference/workflows", "explanation/workflows"],
  ["two factor authentication", "how-to/better-auth-plugins", "reference/authentication"],
  ["prometheus metrics", "reference/metrics", "how-to/observe"],
  [
    "which PostgreSQL version do I need",
    "how-to/database",
    "how-to/questions",
    "how-to/managed-postgres",
    "tutorial/first-application",
  ],
  [
    "row level security policies",
    "reference/crud",
    "explanation/row-level-security-limits",
    "explanation/roles",
    "how-to/teams",
    "tutorial/first-application",
  ],
  ["seed data", "how-to/seed"],
  ["PgBouncer", "how-to/scale"],
  ["rename a column without losing data", "how-to/change-the-schema", "how-to/large-tables"],
  ["how fast is it", "explanation/speed"],
  ["Docker compose", "how-to/deploy"],
];

test("fifty questions of newcomers find their page first", async () => {
  const visitor = app.anonymous();
  const wrong: string[] = [];
  for (const [text, ...pages] of questions) {
    const { passages } = await visitor.query(api.docs.ask, { text });
    const page = pageOf.get(passages[0]?.sourceTitle ?? "") ?? "none";
    if (!pages.includes(page)) wrong.push(`${text}: ${page}: ${passages[0]?.snippet.slice(0, 80)}`);
  }
  expect(questions.length - wrong.length, wrong.join("\n")).toBeGreaterThanOrEqual(45);
});

test.for(["what is the capital of France", "where to eat pizza tonight", "football results of yesterday"])(
  "no page answers %s",
  async (text) => {
    expect((await app.anonymous().query(api.docs.ask, { text })).passages).toEqual([]);
  },
);
