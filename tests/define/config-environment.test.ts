/** If these fail, a service starts with other secrets or databases than the environment defines, or discloses them. */
import { describe, expect, it } from "vitest";
import { describeConfig } from "../../src/config/describe-config.ts";
import { load, older, refusal, secret } from "./config-folder.ts";

describe("the environment", () => {
  const database = "postgres://svc:hunter2@db:5432/app";

  it("wins over the file", async () => {
    const config = await load('{ port: 1, plan: "pro" }', { PORT: "5000", SVC_PLAN: "free" });
    expect(config).toMatchObject({ port: 5000, plan: "free" });
  });

  it("counts a blank variable as unset, as compose files leave them", async () => {
    expect(await load("{ port: 1 }", { PORT: "", DATABASE_URL: " " })).toMatchObject({ port: 1, database: null });
  });

  it.each(["prod", "prodution", "Production"])(
    "refuses NODE_ENV=%s, which would start a developer's service",
    async (name) => {
      expect(await refusal("{}", { NODE_ENV: name })).toContain(
        `NODE_ENV: is ${name}, which svc does not know; did you mean production?`,
      );
      expect(await load("{}", { NODE_ENV: "staging" })).toMatchObject({ production: false });
    },
  );

  it("lets DATABASE_URL alone serve everything, and each purpose have its own", async () => {
    const purposes = ["url", "system", "queue", "auth", "admin", "replication"];
    const alone = Object.fromEntries(purposes.map((purpose) => [purpose, database]));
    expect((await load("{}", { DATABASE_URL: database })).database).toEqual({
      ...alone,
      replicas: [],
      scratch: null,
      studio: null,
    });
    const env = {
      DATABASE_URL: database,
      DATABASE_SYSTEM_URL: "postgresql://a/1",
      DATABASE_AUTH_URL: "postgres://a/2",
      DATABASE_ADMIN_URL: "postgres://a/3",
      DATABASE_REPLICATION_URL: "postgres://a/4",
      DATABASE_REPLICA_URLS: "postgres://a/5, postgres://a/6",
      DATABASE_SCRATCH_URL: "postgres://a/7",
      DATABASE_STUDIO_URL: "postgres://a/8",
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
      studio: { read: "postgres://a/8", act: null },
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

  it("takes a secret that is given twice once: each value that it encrypts names its secret", async () => {
    const env = { AUTHLIB_SECRET: `${secret}, ${older}, ${secret}` };
    expect((await load("{}", env)).auth.secrets).toEqual([secret, older]);
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
    [
      { DATABASE_URL: "mysql://hunter2@db/app" },
      "environment: DATABASE_URL: must be a URL with one host, such as postgres://",
    ],
    [{ DATABASE_URL: "postgres://db-1,db-2/app" }, "environment: DATABASE_URL: must be a URL with one host"],
    [
      { DATABASE_URL: `${database}?dbname=other` },
      "environment: DATABASE_URL: dbname is read by PostgreSQL's programs and ignored by the driver. Write postgres://user@host:5432/name.",
    ],
    [
      { DATABASE_URL: database, DATABASE_ADMIN_URL: `${database}?hostaddr=10.0.0.1` },
      "environment: DATABASE_ADMIN_URL: hostaddr is read by PostgreSQL's programs and ignored by the driver. Write the address",
    ],
    [
      { DATABASE_URL: `${database}?service=shop` },
      "environment: DATABASE_URL: service is read by PostgreSQL's programs",
    ],
    [
      { DATABASE_URL: `${database}?sslmode=verify-full&sslrootcert=system` },
      "environment: DATABASE_URL: sslrootcert=system names a file for the driver. Leave it out: with sslmode=verify-full",
    ],
    [{ DATABASE_URL: "hunter2" }, "environment: DATABASE_URL: must be a URL with one host, such as postgres://"],
    [
      { DATABASE_URL: database, DATABASE_REPLICA_URLS: `${database},hunter2` },
      "environment: DATABASE_REPLICA_URLS[1]:",
    ],
    [{ DATABASE_SCRATCH_URL: database }, "environment: DATABASE_URL: is missing"],
    [{ DATABASE_SYSTEM_URL: database }, "environment: DATABASE_URL: is missing"],
    [{ AUTHLIB_URL: "https://app.example.com/" }, "environment: AUTHLIB_URL: has a path or a trailing slash"],
    [{ AUTHLIB_SECRET: `${secret},hunter2` }, "environment: AUTHLIB_SECRET[1]: must be secrets of at least 32"],
    [
      { DATABASE_URL: "postgres://a/1", DATABASE_STUDIO_ACT_URL: "postgres://a/2" },
      "environment: DATABASE_STUDIO_URL: is missing",
    ],
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

  it("is told of everything that is missing at once", async () => {
    const text = await refusal("{}", { NODE_ENV: "production" });
    expect(text).toContain("environment: AUTHLIB_SECRET: is required in production");
    expect(text).toContain("environment: DATABASE_URL: is required in production");
  });

  it.each([
    ["AUTHLIB_SECRT", "AUTHLIB_SECRET"],
    ["AUTLIB_SECRET", "AUTHLIB_SECRET"],
    ["DATABSE_URL", "DATABASE_URL"],
    ["DATABASE_SYTEM_URL", "DATABASE_SYSTEM_URL"],
    ["SVC_ALLOWED_HOST", "SVC_ALLOWED_HOSTS"],
    ["LOG_LEVLE", "LOG_LEVEL"],
    ["SVC_PORT", "PORT"],
    ["SVC_DATABASE_URL", "DATABASE_URL"],
  ])("refuses %s, which is a slip of %s", async (name, meant) => {
    const text = await refusal("{}", {
      ...env,
      ...(meant === "AUTHLIB_SECRET" && { AUTHLIB_SECRET: "" }),
      [name]: "hunter2",
    });
    expect(text).toContain(`environment: ${name}: is not a variable of svc; did you mean ${meant}?`);
    expect(text).not.toContain("hunter2");
  });

  it("takes no offence at the variables of other programs", async () => {
    const others = {
      XAI_API_KEY: "x",
      PORTS: "1",
      HOST: "a",
      NODE_ENVS: "b",
      DATABASE_URLS: "c",
      SVC_POSTGRES: "auto",
      SVC_PORT: "tcp://10.0.0.1:80",
    };
    await load("{}", { ...env, PORT: "4000", NODE_ENV: "production", DATABASE_URL: "postgres://a@b/c", ...others });
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
    // A number is no secret, whatever its name is.
    expect(describeConfig(await load("{}"))).toContain("limits.passwordsPerAccount: 100");
  });
});
