/**
 * If these fail, a service starts with other limits, secrets or databases than its operator wrote down, or refuses to
 * start without saying what to change.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { defineConfig } from "../../src/define/config.ts";
import { describeConfig } from "../../src/define/describe-config.ts";
import { ConfigError, loadConfig } from "../../src/define/load-config.ts";

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

/** A folder with these files. */
async function app(files: Record<string, string> = {}): Promise<string> {
  const cwd = await mkdtemp(join(tmpdir(), "svc-config-"));
  folders.push(cwd);
  for (const [name, text] of Object.entries(files)) await writeFile(join(cwd, name), text);
  return cwd;
}
/** Loads what `svc.config.ts` with this text gives. */
const load = async (config: string, env: Record<string, string> = {}) =>
  loadConfig({ cwd: await app({ "svc.config.ts": `export default ${config};` }), env });
/** The message of the refusal, with the changing folder cut off. */
async function refusal(config: string, env: Record<string, string> = {}): Promise<string> {
  const error = await load(config, env).then(
    () => expect.fail("the configuration was accepted"),
    (caught: unknown) => caught,
  );
  expect(error).toBeInstanceOf(ConfigError);
  return (error as Error).message.replaceAll(/\S*svc-config-\w+\//g, "");
}

const secret = "0123456789abcdef0123456789abcdef";
const older = "fedcba9876543210fedcba9876543210";

describe("without a file", () => {
  it("everything has its documented default", async () => {
    const cwd = await app();
    expect(await loadConfig({ cwd, env: {} })).toEqual({
      cwd,
      file: null,
      production: false,
      rootDir: join(cwd, "backend"),
      schema: [join(cwd, "backend/schema.ts")],
      codegen: { authSchema: true, clientOutDir: join(cwd, "web/svc") },
      frontendOrigins: [],
      customDomains: [],
      port: 4000,
      storage: { driver: "disk", dir: join(cwd, ".svc/storage") },
      plan: "pro",
      webDir: null,
      webHeaders: {},
      openapi: { document: true, reference: true },
      graphql: {
        enabled: true,
        introspection: true,
        ruru: true,
        maxDepth: 12,
        maxFields: 400,
        maxAliases: 30,
        maxCost: 5000,
        statementTimeoutMs: 5000,
      },
      trustProxy: false,
      limits: {
        jsonBytes: 1_048_576,
        multipartBytes: 52_428_800,
        uploadBytes: 1_073_741_824,
        uploadsPerUser: 20,
        statementTimeoutMs: 15_000,
        idleInTransactionMs: 10_000,
        shutdownMs: 10_000,
        requestsPerAddress: 30_000,
        requestsPerUser: 6_000,
        signInsPerAccount: 10,
        signInsPerAddress: 100,
        signUpsPerAddress: 100,
        mailsPerAccount: 5,
        mailsPerAddress: 30,
        redemptionsPerAddress: 300,
      },
      pool: { request: 10, system: 4, auth: 4, waitMs: 5_000 },
      database: null,
      auth: { url: null, secrets: [], google: null },
      ai: {
        baseUrl: null,
        apiKey: null,
        chatModel: "gpt-4o-mini",
        embeddingModel: "local-hash",
        embeddingDimensions: 384,
        rerankModel: "local-hash",
        visionModel: "local-tesseract",
        speechModel: "local-espeak",
        transcriptionModel: "local-pocketsphinx",
        timeoutMs: 60_000,
        creditsPerRequest: 100,
        creditsPerUserPerDay: false,
      },
      documents: { defaultCap: 100, hosted: {} },
      logLevel: "info",
      metricsToken: null,
      otel: {},
    });
  });
});

describe("the file", () => {
  it.each(["svc.config.ts", "svc.config.js", "svc.config.mjs"])("may be called %s", async (name) => {
    const cwd = await app({ [name]: "export default { port: 5000 };", "package.json": '{"type":"module"}' });
    expect(await loadConfig({ cwd, env: {} })).toMatchObject({ port: 5000, file: join(cwd, name) });
  });

  it("may set one limit and keep the defaults of the others", async () => {
    const config = await load("{ limits: { jsonBytes: 2048 }, pool: { request: 20 } }");
    expect(config.limits).toMatchObject({ jsonBytes: 2048, multipartBytes: 52_428_800 });
    expect(config.pool).toMatchObject({ request: 20, system: 4 });
  });

  it("gives absolute folders, so that no reader depends on where the process was started", async () => {
    const { cwd, ...config } = await load('{ rootDir: "./server", webDir: "public", schema: ["a.ts", "/b.ts"] }');
    expect(config.rootDir).toBe(join(cwd, "server"));
    expect(config.webDir).toBe(join(cwd, "public"));
    expect(config.schema).toEqual([join(cwd, "a.ts"), "/b.ts"]);
    expect((await load('{ rootDir: "./server" }')).schema[0]).toMatch(/\/server\/schema\.ts$/);
  });

  it("may keep files in S3", async () => {
    const storage = { driver: "s3", bucket: "files", endpoint: "https://s3.example.com", region: "eu-central-1" };
    expect((await load(JSON.stringify({ storage }))).storage).toEqual(storage);
  });

  it("names custom domains as hosts; they become https origins", async () => {
    const config = await load('{ customDomains: ["shop.example.com", "https://www.example.com"] }');
    expect(config.customDomains).toEqual(["https://shop.example.com", "https://www.example.com"]);
  });

  it("is frozen to the bottom once loaded, so that no module can change another's limits", async () => {
    const config = await load('{ frontendOrigins: ["https://a.example.com"] }');
    expect(() => ((config.limits as { jsonBytes: number }).jsonBytes = 1)).toThrow(TypeError);
    expect(() => (config.frontendOrigins as string[]).push("https://evil.example.com")).toThrow(TypeError);
  });

  it("defineConfig changes nothing", () => {
    const config = { port: 1 };
    expect(defineConfig(config)).toBe(config);
  });
});

describe("a wrong file is refused with its name, the key, and what to write", () => {
  it.each([
    ["{ prot: 4000 }", 'svc.config.ts: "prot" is not a known key. Did you mean "port"?'],
    ["{ limits: { jsonByte: 1 } }", 'svc.config.ts: limits: "jsonByte" is not a known key. Did you mean "jsonBytes"?'],
    ['{ storage: { driver: "disk", folder: "x" } }', 'storage: "folder" is not a known key. Did you mean "d'],
    ["{ oauth: {} }", '"oauth" belongs in auth.ts: defineAuth({ oauth: … })'],
    ['{ port: "4000" }', "svc.config.ts: port: must be a port number from 0 (any free one) to 65535, for example 4000"],
    ["{ port: 70000 }", "port: must be a port number"],
    ["{ limits: { jsonBytes: 1.5 } }", "limits.jsonBytes: must be a whole number of bytes from 1024 to 2147483647"],
    ["{ limits: 5 }", "limits: must be an object, as in { key: value }"],
    [
      "{ pool: { waitMs: null } }",
      "pool.waitMs: must be a whole number of milliseconds from 1 to 2147483647, for example 10000, got null",
    ],
    ['{ plan: "gold" }', 'plan: must be "free", "personal" or "pro"'],
    ["{ trustProxy: -1 }", "trustProxy: must be true, false or the number of proxies"],
    ["{ schema: [] }", 'schema: must be a file such as "./backend/schema.ts", or a list'],
    ['{ storage: { driver: "s3" } }', 'storage.bucket: must be a bucket\'s name, such as "files", got nothing'],
    ['{ storage: { driver: "ftp" } }', 'must be "disk" or "s3"'],
    ['{ frontendOrigins: "https://a.example.com" }', "frontendOrigins: must be a list"],
    ["{ codegen: { authSchema: 1 } }", "codegen.authSchema: must be true or false, got a number"],
    ['{ frontendOrigins: ["http://localhost:3000", "https://*.example.com"] }', "frontendOrigins[1]: has a wildcard"],
    ['{ customDomains: ["a.example.com/x"] }', "customDomains[0]: has a path"],
    ['{ customDomains: ["*.example.com"] }', "customDomains[0]: has a wildcard"],
    ['{ customDomains: ["ann@a.example.com"] }', "customDomains[0]: has a user name or password"],
    ['{ customDomains: ["a.example.com?b"] }', "customDomains[0]: has a query string"],
    ['{ customDomains: ["a.example.com#b"] }', "customDomains[0]: has a hash"],
    ['{ customDomains: ["A.example.com"] }', "customDomains[0]: is not spelled as browsers send it"],
    ['{ customDomains: ["a.example.com", "ftp://b.example.com"] }', "customDomains[1]: does not start with https://"],
    ["{ customDomains: [null] }", "customDomains[0]: must be a host name"],
    ['{ webHeaders: { "a b": "c" } }', "webHeaders: must be headers and their values"],
    ['{ webHeaders: { a: "b\\r\\nc: d" } }', "webHeaders: must be headers and their values"],
    ["{ webHeaders: { a: 1 } }", "webHeaders.a: must be headers and their values"],
    ["() => ({})", "svc.config.ts: must be an object"],
  ])("%s", async (config, message) => {
    expect(await refusal(config)).toContain(message);
  });

  it("lists all problems at once, so that one start finds them all", async () => {
    const message = await refusal('{ port: -1, plan: "x", zzz: 1 }', { PORT: "abc", LOG_LEVEL: "loud" });
    for (const part of ["port:", "plan:", '"zzz"', "environment: PORT:", "environment: LOG_LEVEL:"]) {
      expect(message).toContain(part);
    }
  });

  it("says which file does not load, has no default export, or is there twice", async () => {
    const broken = await app({ "svc.config.mjs": "throw new Error('no such luck')" });
    await expect(loadConfig({ cwd: broken, env: {} })).rejects.toThrow(
      /svc\.config\.mjs could not be loaded: no such luck/,
    );
    const named = await app({ "svc.config.mjs": "export const config = {}" });
    await expect(loadConfig({ cwd: named, env: {} })).rejects.toThrow(/no default export/);
    const both = await app({ "svc.config.ts": "", "svc.config.mjs": "" });
    await expect(loadConfig({ cwd: both, env: {} })).rejects.toThrow(/two configurations/);
  });
});

describe("the environment", () => {
  const database = "postgres://svc:hunter2@db:5432/app";

  it("wins over the file", async () => {
    const config = await load('{ port: 1, plan: "pro" }', { PORT: "5000", SVC_PLAN: "free" });
    expect(config).toMatchObject({ port: 5000, plan: "free" });
  });

  it("counts a blank variable as unset, as compose files leave them", async () => {
    expect(await load("{ port: 1 }", { PORT: "", DATABASE_URL: " " })).toMatchObject({ port: 1, database: null });
  });

  it("lets DATABASE_URL alone serve everything, and each purpose have its own", async () => {
    const purposes = ["url", "system", "queue", "auth", "admin", "replication"];
    const alone = Object.fromEntries(purposes.map((purpose) => [purpose, database]));
    expect((await load("{}", { DATABASE_URL: database })).database).toEqual({ ...alone, replicas: [], scratch: null });
    const env = {
      DATABASE_URL: database,
      DATABASE_SYSTEM_URL: "postgresql://a/1",
      DATABASE_AUTH_URL: "postgres://a/2",
      DATABASE_ADMIN_URL: "postgres://a/3",
      DATABASE_REPLICATION_URL: "postgres://a/4",
      DATABASE_REPLICA_URLS: "postgres://a/5, postgres://a/6",
      DATABASE_SCRATCH_URL: "postgres://a/7",
    };
    expect((await load("{}", env)).database).toEqual({
      url: database,
      system: "postgresql://a/1",
      queue: "postgresql://a/1",
      auth: "postgres://a/2",
      admin: "postgres://a/3",
      replication: "postgres://a/4",
      replicas: ["postgres://a/5", "postgres://a/6"],
      scratch: "postgres://a/7",
    });
  });

  it("carries what the other modules read", async () => {
    const env = {
      AUTHLIB_URL: "https://app.example.com",
      AUTHLIB_SECRET: `${secret}, ${older}`,
      GOOGLE_CLIENT_ID: "id",
      GOOGLE_CLIENT_SECRET: "shh",
      AI_BASE_URL: "https://ai.example.com/v1",
      AI_API_KEY: "key",
      LOG_LEVEL: "debug",
      OTEL_SERVICE_NAME: "desk",
      UNRELATED: "x",
    };
    expect(await load("{}", env)).toMatchObject({
      auth: {
        url: "https://app.example.com",
        secrets: [secret, older],
        google: { clientId: "id", clientSecret: "shh", issuer: "https://accounts.google.com" },
      },
      ai: { baseUrl: "https://ai.example.com/v1", apiKey: "key" },
      logLevel: "debug",
      otel: { OTEL_SERVICE_NAME: "desk" },
    });
  });

  it.each(["https://id.example.com/realm", "http://localhost:9000", "http://127.0.0.1:9000"])(
    "takes %s for the issuer of Google's ID tokens",
    async (issuer) => {
      const env = { GOOGLE_CLIENT_ID: "id", GOOGLE_CLIENT_SECRET: "shh", GOOGLE_ISSUER: issuer };
      expect(await load("{}", env)).toMatchObject({ auth: { google: { issuer } } });
    },
  );

  it.each([
    [{ PORT: "80a" }, "environment: PORT: must be a port number"],
    [{ SVC_PLAN: "gold" }, 'environment: SVC_PLAN: must be "free", "personal" or "pro"'],
    [{ DATABASE_URL: "mysql://hunter2@db/app" }, "environment: DATABASE_URL: must be a URL such as postgres://"],
    [{ DATABASE_URL: "hunter2" }, "environment: DATABASE_URL: must be a URL such as postgres://"],
    [
      { DATABASE_URL: database, DATABASE_REPLICA_URLS: `${database},hunter2` },
      "environment: DATABASE_REPLICA_URLS[1]:",
    ],
    [{ DATABASE_SCRATCH_URL: database }, "environment: DATABASE_URL: is missing"],
    [{ DATABASE_SYSTEM_URL: database }, "environment: DATABASE_URL: is missing"],
    [{ AUTHLIB_URL: "https://app.example.com/" }, "environment: AUTHLIB_URL: has a path or a trailing slash"],
    [{ AUTHLIB_SECRET: `${secret},hunter2` }, "environment: AUTHLIB_SECRET[1]: must be secrets of at least 32"],
    [{ GOOGLE_CLIENT_ID: "id" }, "environment: GOOGLE_CLIENT_SECRET: is missing"],
    [{ GOOGLE_CLIENT_SECRET: "hunter2" }, "environment: GOOGLE_CLIENT_ID: is missing"],
    [{ GOOGLE_ISSUER: "hunter2" }, "environment: GOOGLE_ISSUER: must be an issuer"],
    [{ GOOGLE_ISSUER: "http://hunter2.test" }, "environment: GOOGLE_ISSUER: must be an issuer"],
    [{ GOOGLE_ISSUER: "https://u:hunter2@a.test" }, "environment: GOOGLE_ISSUER: must be an issuer"],
    [{ GOOGLE_ISSUER: "https://a.test?hunter2" }, "environment: GOOGLE_ISSUER: must be an issuer"],
    [{ AI_BASE_URL: "ftp://hunter2" }, "environment: AI_BASE_URL: must be a URL"],
    [{ LOG_LEVEL: "loud" }, "environment: LOG_LEVEL: must be a level"],
  ] as [Record<string, string>, string][])("refuses %j without repeating it", async (env, message) => {
    const text = await refusal("{}", env);
    expect(text).toContain(message);
    expect(text).not.toContain("hunter2");
  });
});

describe("production", () => {
  const env = { NODE_ENV: "production", AUTHLIB_SECRET: secret };

  it("needs a secret, since sessions signed with a known one can be forged", async () => {
    for (const missing of [undefined, { AUTHLIB_SECRET: "" }, { AUTHLIB_SECRET: " , " }]) {
      const text = await refusal("{}", { NODE_ENV: "production", ...missing });
      expect(text).toContain("environment: AUTHLIB_SECRET: is required in production");
    }
    expect(await load("{}", env)).toMatchObject({ production: true, auth: { secrets: [secret] } });
  });

  it("needs https for every origin but this machine's", async () => {
    expect(await refusal('{ frontendOrigins: ["http://a.example.com"] }', env)).toContain(
      "frontendOrigins[0]: uses http",
    );
    expect(await refusal("{}", { ...env, AUTHLIB_URL: "http://a.example.com" })).toContain("AUTHLIB_URL: uses http");
    await load('{ frontendOrigins: ["http://localhost:3000"] }', { ...env, AUTHLIB_URL: "http://127.0.0.1:4000" });
  });
});

describe("describeConfig", () => {
  it("shows what is in effect and none of the secrets, so that its output can be pasted into an issue", async () => {
    const text = describeConfig(
      await load('{ storage: { driver: "s3", bucket: "b", endpoint: "https://hunter2@s3.example.com" } }', {
        AUTHLIB_SECRET: `${secret},${older}`,
        DATABASE_URL: "postgres://svc:hunter2@db:5432/app?password=hunter2&sslmode=require",
        DATABASE_REPLICA_URLS: "postgres://svc:hunter2@replica/app",
        GOOGLE_CLIENT_ID: "id",
        GOOGLE_CLIENT_SECRET: "hunter2",
        AI_BASE_URL: "https://u:hunter2@ai.example.com/v1?api_key=hunter2",
        AI_API_KEY: "hunter2",
        AUTHLIB_URL: "https://app.example.com",
        OTEL_EXPORTER_OTLP_HEADERS: "authorization=hunter2",
      }),
    );
    for (const hidden of ["hunter2", secret, older]) expect(text).not.toContain(hidden);
    const lines = text.split("\n");
    expect(lines).toContain("port: 4000");
    expect(lines).toContain("limits.jsonBytes: 1048576");
    expect(lines).toContain("database.url: postgres://svc:***@db:5432/app?password=***&sslmode=require");
    expect(lines).toContain("database.replicas: postgres://svc:***@replica/app");
    expect(lines).toContain("auth.url: https://app.example.com");
    expect(lines).toContain("auth.secrets: ***, ***");
    expect(lines).toContain("auth.google.clientId: id");
    expect(lines).toContain("webDir: none");
    expect(lines).toContain("frontendOrigins: none");
  });

  it("distinguishes a secret that is set from one that is missing", async () => {
    expect(describeConfig(await load("{}"))).toContain("ai.apiKey: none");
    expect(describeConfig(await load("{}", { AI_API_KEY: "k" }))).toContain("ai.apiKey: ***");
  });
});
