/**
 * If these fail, a service starts with other limits than the file defines, or refuses to start without a useful
 * message.
 */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { defineConfig } from "../../src/config/config.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { app, load, refusal } from "./config-folder.ts";

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
      host: "127.0.0.1",
      allowedHosts: null,
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
      uploads: { enabled: true, public: false },
      trustProxy: false,
      limits: {
        jsonBytes: 1_048_576,
        multipartBytes: 52_428_800,
        bodyMemoryBytes: 268_435_456,
        formDiskBytes: 2_147_483_648,
        bodyBytesPerSecond: 1024,
        bodyWindowMs: 30_000,
        uploadBytes: 1_073_741_824,
        storageBytes: 107_374_182_400,
        storageBytesAnonymous: 1_073_741_824,
        storageBytesPerUser: 10_737_418_240,
        exports: 4,
        exportMs: 600_000,
        uploadsPerUser: 20,
        statementTimeoutMs: 15_000,
        generatedTimeoutMs: 5_000,
        rowBytes: 67_108_864,
        idleInTransactionMs: 10_000,
        finishedJobs: 10_000,
        finishedJobDays: 7,
        historyDays: false,
        webhookDays: 30,
        shutdownMs: 10_000,
        requestsPerAddress: 30_000,
        socketsPerAddress: 2_000,
        requestsPerUser: 6_000,
        signInsPerAccount: 10,
        signInsPerAddress: 100,
        passwordsPerAccount: 100,
        passwordsPerAddress: 1_000,
        signUpsPerAddress: 100,
        mailsPerAccount: 5,
        mailsPerAddress: 30,
        mails: 10_000,
        texts: 300,
        redemptionsPerAddress: 300,
      },
      pool: { request: 10, system: 4, auth: 4, waitMs: 5_000 },
      webhooks: { timeoutMs: 10_000, privateEndpoints: false, variables: {} },
      database: null,
      auth: { url: null, secrets: [], bridgeSecrets: [], google: null, clients: {} },
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
    [
      '{ port: "4000" }',
      "svc.config.ts: port: must be a port number from 0 (any free port) to 65535, for example 4000",
    ],
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
    ['{ webFallback: "../index.html" }', 'webFallback: must be a file of webDir, such as "index.html"'],
    ['{ webFallback: "pages/../../a.html" }', "webFallback: must be a file of webDir"],
    ['{ webFallback: "/index.html" }', "webFallback: must be a file of webDir"],
    ["{ webFallback: true }", "webFallback: must be a file of webDir"],
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
