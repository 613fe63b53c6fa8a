/**
 * Reads the configuration once, at start-up: `svc.config.ts`, then the environment, which wins. Everything wrong is
 * reported at once, each with its place and what to write instead. No other code reads these names from `process.env`.
 * Next hop: the CLI commands pass the frozen result to `src/server/app.ts`, the pools, auth and storage.
 */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { z } from "zod";
import { byNearness, isNear } from "../kit/nearest.ts";
import { linesOf, readOptions } from "../kit/options.ts";
import { type EffectiveConfig, fileSchema } from "./config.ts";
import { environmentSchema } from "./config-environment.ts";
import { graphqlSettings } from "./config-graphql.ts";
import { checkOrigin } from "./origin.ts";

type FileSettings = z.output<typeof fileSchema>;
type Environment = z.output<typeof environmentSchema>;

/** The configuration is invalid. The message lists every problem; the CLI prints it without a stack. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

const FILES = ["svc.config.ts", "svc.config.js", "svc.config.mjs"];
/** Keys that belong to `auth.ts`, for a precise error. */
const authKeys = [
  "oauth",
  "user",
  "emailAndPassword",
  "emailVerification",
  "social",
  "apiKeys",
  "organizations",
  "passkeys",
  "schemes",
  "betterAuth",
];
const inAuth = Object.fromEntries(
  authKeys.map((key) => [key, `"${key}" belongs in auth.ts: defineAuth({ ${key}: … })`]),
);

/**
 * Loads the effective configuration.
 *
 * @param options.cwd the application's folder (Default: the process's)
 * @param options.env environment variables, by name (Default: the process's)
 * @throws ConfigError listing everything that is wrong in the file and the environment
 * @example
 * const config = await loadConfig({ cwd: "examples/desk" });
 */
export async function loadConfig(
  options: { cwd?: string; env?: Readonly<Record<string, string | undefined>> } = {},
): Promise<EffectiveConfig> {
  const cwd = resolve(options.cwd ?? process.cwd());
  const env = Object.fromEntries(Object.entries(options.env ?? process.env).filter(([, text]) => text?.trim()));
  const file = findFile(cwd);
  const problems: string[] = [];

  const written = parse(fileSchema, file ? await importFile(file) : {}, file ?? "", problems);
  const set = parse(environmentSchema, env, "environment", problems);
  if (written && file) checkOrigins(written, env.NODE_ENV === "production", file, problems);
  checkNames(env, problems);
  if (set) checkEnvironment(set, problems);
  if (!written || !set || problems.length > 0) {
    throw new ConfigError(`The configuration is not valid:\n${problems.map((line) => `- ${line}`).join("\n")}`);
  }
  const variables = (name: RegExp) =>
    Object.fromEntries(Object.entries(env).filter(([one]) => name.test(one))) as Record<string, string>;
  const merged = merge(written, set, cwd);
  const clients = variables(/^(?!GOOGLE_)[A-Z0-9_]+_(CLIENT_ID|CLIENT_SECRET|ISSUER)$/);
  const webhooks = { ...merged.webhooks, variables: variables(/^[A-Z0-9_]*HOOK(_SECRET)?$/) };
  return deepFreeze({ cwd, file, ...merged, auth: { ...merged.auth, clients }, webhooks, otel: variables(/^OTEL_/) });
}

function findFile(cwd: string): string | null {
  const [file, other] = FILES.map((name) => join(cwd, name)).filter((path) => existsSync(path));
  if (file && other) throw new ConfigError(`There are two configurations, ${file} and ${other}. Delete one.`);
  return file ?? null;
}

async function importFile(file: string): Promise<unknown> {
  let module: Record<string, unknown>;
  try {
    module = await import(pathToFileURL(file).href);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ConfigError(`${file} could not be loaded: ${reason}`, { cause });
  }
  if ("default" in module) return module.default;
  throw new ConfigError(`${file} has no default export. Write: export default defineConfig({ … })`);
}

function parse<Of extends z.ZodType>(schema: Of, value: unknown, place: string, problems: string[]) {
  const result = readOptions(schema, value, inAuth);
  if (!result.issues) return result.data;
  problems.push(...linesOf(place, result.issues));
  return undefined;
}

function checkOrigins(written: FileSettings, production: boolean, file: string, problems: string[]): void {
  for (const key of ["frontendOrigins", "customDomains"] as const) {
    for (const [index, value] of written[key].entries()) {
      const { reason } = checkOrigin(value, { production });
      if (reason) problems.push(`${file}: ${key}[${index}]: ${reason}`);
    }
  }
}

/** Otherwise a misspelled name would be ignored silently. */
function checkNames(env: Readonly<Record<string, string | undefined>>, problems: string[]): void {
  const unset = Object.keys(environmentSchema.shape).filter((name) => !(name in env));
  const wordOf = (name: string) => name.split("_", 1)[0] ?? "";
  for (const [name, value = ""] of Object.entries(env)) {
    // Kubernetes tells each container of the Services beside it: SVC_PORT=tcp://… of one that is named svc.
    if (name in environmentSchema.shape || /^(tcp|udp|sctp):/.test(value)) continue;
    // Short words are also those of other programs: XAI_API_KEY is not a misspelled AI_API_KEY.
    const isOurs = (known: string) => wordOf(known) === wordOf(name) || wordOf(known).length >= 6;
    const bare = name.replace(/^SVC_/, ""); // SVC_PORT is PORT
    const near = unset.filter((known) => isOurs(known) && isNear(name, known));
    const [meant] = bare !== name && bare in environmentSchema.shape ? [bare] : byNearness(name, near);
    if (meant) problems.push(`environment: ${name}: is not a variable of svc; did you mean ${meant}?`);
  }
}

function checkEnvironment(set: Environment, problems: string[]): void {
  const production = set.NODE_ENV === "production";
  const refuse = (name: string, reason: string) => problems.push(`environment: ${name}: ${reason}`);
  // A misspelled one would start a service with the settings of a developer's machine.
  const { NODE_ENV: mode = "" } = set;
  if (!production && (isNear(mode, "production") || isNear(mode, "prod"))) {
    refuse("NODE_ENV", `is ${mode}, which svc does not know; did you mean production?`);
  }
  if (production && set.AUTHLIB_SECRET.length === 0) {
    refuse("AUTHLIB_SECRET", "is required in production; set it to 32 characters or more, try `openssl rand -hex 32`");
    // `svc start` needs it too: both are reported at once.
    if (!set.DATABASE_URL)
      refuse(
        "DATABASE_URL",
        "is required in production, where no server is embedded; set it to postgres://user:password@host:5432/name",
      );
  }
  if (set.SVC_BRIDGE_SECRET.some((secret) => set.AUTHLIB_SECRET.includes(secret))) {
    refuse("SVC_BRIDGE_SECRET", "is one of AUTHLIB_SECRET, which frontends must not know; create another one");
  }
  const { reason } = set.AUTHLIB_URL ? checkOrigin(set.AUTHLIB_URL, { production }) : {};
  if (reason) refuse("AUTHLIB_URL", reason);
  if (!set.GOOGLE_CLIENT_ID !== !set.GOOGLE_CLIENT_SECRET) {
    refuse(set.GOOGLE_CLIENT_ID ? "GOOGLE_CLIENT_SECRET" : "GOOGLE_CLIENT_ID", "is missing; set both or neither");
  }
  if (set.DATABASE_STUDIO_ACT_URL && !set.DATABASE_STUDIO_URL) {
    refuse("DATABASE_STUDIO_URL", "is missing, while DATABASE_STUDIO_ACT_URL is set; set both, or the first alone");
  }
  const others = Object.entries(set).filter(([name]) => name.startsWith("DATABASE_"));
  if (!set.DATABASE_URL && others.some(([, value]) => [value ?? []].flat().length > 0)) {
    refuse("DATABASE_URL", "is missing, while another DATABASE_*_URL is set; set it to the URL for requests");
  }
}

/** The environment over the file, folders made absolute. */
function merge(written: FileSettings, set: Environment, cwd: string) {
  const production = set.NODE_ENV === "production";
  const rootDir = resolve(cwd, written.rootDir);
  const schema = [written.schema ?? join(rootDir, "schema.ts")].flat();
  const { storage, codegen, webDir, openapi } = written;
  const { GOOGLE_CLIENT_ID: clientId, GOOGLE_CLIENT_SECRET: clientSecret, GOOGLE_ISSUER: issuer } = set;
  return {
    ...written,
    production,
    rootDir,
    schema: schema.map((path) => resolve(cwd, path)),
    codegen: { ...codegen, clientOutDir: resolve(cwd, codegen.clientOutDir) },
    storage: storage.driver === "disk" ? { ...storage, dir: resolve(cwd, storage.dir) } : storage,
    openapi: { ...openapi, reference: openapi.document && (openapi.reference ?? !production) },
    webDir: webDir === undefined ? null : resolve(cwd, webDir),
    port: set.PORT ?? written.port,
    host: set.SVC_HOST ?? written.host ?? (production ? null : "127.0.0.1"),
    allowedHosts: set.SVC_ALLOWED_HOSTS ?? written.allowedHosts ?? null,
    plan: set.SVC_PLAN ?? written.plan,
    database: databaseUrls(set),
    auth: {
      url: set.AUTHLIB_URL ?? null,
      secrets: set.AUTHLIB_SECRET,
      bridgeSecrets: set.SVC_BRIDGE_SECRET,
      google: clientId && clientSecret ? { clientId, clientSecret, issuer } : null,
    },
    graphql: graphqlSettings(written.graphql, production),
    ai: { ...written.ai, baseUrl: set.AI_BASE_URL ?? null, apiKey: set.AI_API_KEY ?? null },
    logLevel: set.LOG_LEVEL,
    metricsToken: set.METRICS_TOKEN ?? null,
  };
}

/** @returns null when the service runs a server of its own */
function databaseUrls(set: Environment) {
  const { DATABASE_URL: url, DATABASE_STUDIO_URL: read } = set;
  if (!url) return null;
  return {
    url,
    system: set.DATABASE_SYSTEM_URL ?? url,
    queue: set.DATABASE_QUEUE_URL ?? set.DATABASE_SYSTEM_URL ?? url,
    auth: set.DATABASE_AUTH_URL ?? url,
    admin: set.DATABASE_ADMIN_URL ?? url,
    replication: set.DATABASE_REPLICATION_URL ?? url,
    replicas: set.DATABASE_REPLICA_URLS,
    scratch: set.DATABASE_SCRATCH_URL ?? null,
    studio: read ? { read, act: set.DATABASE_STUDIO_ACT_URL ?? null } : null,
  };
}

function deepFreeze<T extends object>(value: T): T {
  for (const member of Object.values(value)) if (typeof member === "object" && member !== null) deepFreeze(member);
  return Object.freeze(value);
}
