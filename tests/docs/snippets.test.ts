// If this file fails, a snippet that is copied from the documentation causes an error.
import { cp, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import starter from "../../examples/starter/package.json" with { type: "json" };
import packageJson from "../../package.json" with { type: "json" };
import { loadApp } from "../../src/app/load-app.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { migrate } from "../../src/migrate/migrate.ts";
import { type Service, startService } from "../../src/service/service.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";
import { secret } from "../support/service.ts";
import { testServer } from "../support/test-server.ts";
import { snippets } from "./markdown.ts";

const everywhere = await snippets();
/** Pages whose snippets form one application each: the test of the same name builds and runs it. */
const applications = [
  "README",
  "docs/tutorial/first-application", // tests/packages/publish.test.ts
  ...[
    "appointments",
    "audit-trail",
    "blocks",
    "chat",
    "company-sign-in",
    "direct-messages",
    "existing-database",
    "feature-flags",
    "from-convex",
    "from-prisma",
    "from-supabase",
    "guests",
    "infinite-lists",
    "integrations",
    "invitations",
    "knowledge-base",
    "leave-svc",
    "partitions",
    "nearby",
    "organizations",
    "personal-data",
    "phone-sign-in",
    "presence",
    "push-notifications",
    "query-your-data",
    "service-accounts",
    "shop",
    "small-teams",
    "staff-and-customers",
    "teams",
    "trash",
    "user-profiles",
    "vue-and-svelte", // tests/packages/frameworks.test.ts
    "webhooks",
  ].map((name) => `docs/how-to/${name}`),
];
const all = everywhere.filter(({ place }) => !applications.some((page) => place.startsWith(`${page}.md:`)));
const of = (language: string) => all.filter((snippet) => snippet.language === language);

const db = database("platform");
// Inside the project, where @svc/core resolves.
const folder = join(root, ".svc", `snippets-${process.pid}`);
let service: Service;
/** As in the application's own tests, in its folder. */
const deskApp = `createTestApp({ api, cwd: ${JSON.stringify(join(root, "examples/desk"))} })`;

beforeAll(async () => {
  const desk = join(root, "examples/desk");
  // Snippets import the generated file and the schema as an application does.
  await mkdir(join(folder, "svc"), { recursive: true });
  await cp(join(desk, "web/svc/api.ts"), join(folder, "svc/api.ts"));
  await cp(join(desk, "backend/schema.ts"), join(folder, "schema.ts"));
  await cp(join(desk, "backend/generated"), join(folder, "generated"), { recursive: true });
  await migrate({ adminUrl: db.url("admin"), platform: root, application: desk });
  const config = { ...(await loadConfig({ cwd: desk, env: {} })), port: 0 };
  const log = createLog("silent");
  testServer(db);
  service = await startService({ app: await loadApp(config), config, urls: db.urls, secrets: [secret], log });
});
afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

test("the documentation has snippets of every kind", () => {
  expect(of("ts").length).toBeGreaterThan(3);
  expect(of("sql").length).toBeGreaterThan(1);
});

describe("TypeScript runs", () => {
  test.for(of("ts"))("$place", async ({ place, text }) => {
    const file = join(folder, `${place.replaceAll(/\W/g, "_")}.ts`);
    await writeFile(
      file,
      text.replaceAll("http://localhost:4000", service.url).replaceAll("createTestApp({ api })", deskApp),
    );
    await import(/* @vite-ignore */ pathToFileURL(file).href);
  });
});

describe("GraphQL is answered", () => {
  test.for(of("graphql"))("$place", async ({ text }) => {
    const post = async (path: string, body: object, token?: string) => {
      const headers = { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) };
      return (await fetch(`${service.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) })).json();
    };
    const email = `${crypto.randomUUID()}@example.com`;
    const { token } = await post("/api/auth/sign-up", { email, password: "correct horse", name: "Ann" });
    expect(await post("/api/graphql", { query: text }, token)).toEqual({ data: expect.any(Object) });
  });
});

describe("SQL runs", () => {
  // What migrations change that pages show.
  beforeAll(() =>
    db.sql(`create table public.books (id serial primary key);
      create table public.bookings (room_id integer, starts_at timestamptz, ends_at timestamptz)`),
  );

  test.for(of("sql"))("$place", async ({ text }) => {
    // Definitions are files of sql/, which the administrator applies. The administrator removes old rows and sets prices.
    const isAdministrators = /^(--.*\n)*(create|alter|delete|update|insert into svc_private\.\w+) /.test(text);
    const client = await db.connect(isAdministrators ? "admin" : "request");
    // A statement with parameters can only be prepared; PostgreSQL checks it then, too.
    await client.query(text.includes("$1") ? `prepare snippet as ${text}` : text);
  });
});

describe("JSON parses", () => {
  test.for(of("json"))("$place", ({ text }) => {
    JSON.parse(text);
  });
});

// Of this repository, or of an application.
const scripts = Object.keys({ ...packageJson.scripts, ...starter.scripts });

describe("npm scripts exist", () => {
  test.for(everywhere.filter(({ language }) => language === "sh"))("$place", ({ text }) => {
    for (const [, name = ""] of text.matchAll(/\bnpm (?:run )?([\w:]+)/g)) {
      if (!["install", "ci", "i", "rebuild"].includes(name)) expect(scripts).toContain(name);
    }
  });
});
