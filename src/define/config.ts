/**
 * What can be configured: the keys of `svc.config.ts` and the environment variables, with their types, units, defaults
 * and the sentence an operator reads when one is wrong.
 * Next hop: `load-config.ts` reads both, merges them (the environment wins) and freezes the result.
 */
import { validateHeaderName, validateHeaderValue } from "node:http";
import { z } from "zod";
import { kindOf } from "./v.ts";

/** The sentence of a wrong value: what would be right, and the kind of what came, never its content. */
const must = (be: string) => ({
  error: (issue: { code?: string; input?: unknown }) =>
    issue.code === "invalid_type" ? `must be ${be}, got ${kindOf(issue.input)}` : `must be ${be}`,
});

function integer(min: number, max: number, be: string) {
  const rule = must(be);
  return z.number(rule).int(rule).min(min, rule).max(max, rule);
}
const whole = (min: number, max: number, unit: string, example: number) =>
  integer(min, max, `a whole number of ${unit} from ${min} to ${max}, for example ${example}`);

const INT32 = 2 ** 31 - 1;
const bytes = () => whole(1024, INT32, "bytes", 1_048_576);
const milliseconds = () => whole(1, INT32, "milliseconds", 10_000);
const connections = () => whole(1, 1000, "connections", 10);
const attempts = (count: number) => {
  const be = `a whole number of attempts from 1 to 1000000, for example ${count}, or false for no limit`;
  return z.union([z.literal(false), integer(1, 1_000_000, be)], must(be)).default(count);
};
const model = (name: string) =>
  z
    .string(must(`a model's name, such as "${name}"`))
    .min(1, must("a model's name"))
    .default(name);
const hostedEndpoint = () =>
  z
    .strictObject({
      /** Of an endpoint that speaks OpenAI's protocol. */
      baseUrl: z.url({ protocol: /^https?$/, ...must("a URL such as https://ai.example.com/v1") }),
      apiKey: z.string().optional(),
      model: z.string(must("a model's name")).min(1, must("a model's name")),
      /** What a page costs. */
      creditsPerPage: z.number(must("a number of credits")).nonnegative(must("a number of credits from 0")),
      /** (Default: asks for all of the text as Markdown) */
      prompt: z.string().optional(),
      /** For one call, in milliseconds. (Default: 120000) */
      timeMs: milliseconds().optional(),
    })
    .optional();
const folder = () => z.string(must('a folder, relative to this file, such as "./backend"')).min(1, must("a folder"));
const texts = (be: string) => z.array(z.string(must(be)), must(`a list in which each entry is ${be}`));
const portNumber = "a port number from 0 (any free one) to 65535, for example 4000";
const port = () => integer(0, 65_535, portNumber);
const proxies = "true, false or the number of proxies, for example 1";
const schemaFiles = 'a file such as "./backend/schema.ts", or a list of them';
const plan = () => z.enum(["free", "personal", "pro"], must('"free", "personal" or "pro"'));

const headers = 'headers and their values, such as { "content-security-policy": "default-src \'self\'" }';

/** Whether HTTP can carry them. Node would find out in the first answer. */
function areHeaders(values: Record<string, string>): boolean {
  try {
    for (const [name, value] of Object.entries(values)) {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    }
    return true;
  } catch {
    return false;
  }
}

/** The file's shape. Strict: an unknown key is an error, since a mistyped limit would otherwise be no limit. */
export const fileSchema = z.strictObject({
  /** Folder of the backend code. (Default: "./backend") */
  rootDir: folder().default("./backend"),
  /** The Drizzle schema: a file, or several. (Default: schema.ts in rootDir) */
  schema: z.union([folder(), z.array(folder()).min(1, must(schemaFiles))], must(schemaFiles)).optional(),
  /** What `svc codegen` writes. */
  codegen: z
    .strictObject({
      /** Whether the auth schema file is generated; false when the application owns it. (Default: true) */
      authSchema: z.boolean(must("true or false")).default(true),
      /** Folder of the generated browser files (`api.ts`). (Default: "./web/svc") */
      clientOutDir: folder().default("./web/svc"),
    })
    .prefault({}),
  /** Origins of external frontends, exact: scheme://host[:port], https in production. (Default: none) */
  frontendOrigins: texts("an origin such as https://app.example.com").default([]),
  /** Host names under which this service is reached besides AUTHLIB_URL, without scheme. (Default: none) */
  customDomains: texts("a host name such as app.example.com")
    // Their origins are always https. A scheme in front is no mistake worth an error; loading checks it.
    .transform((names) => names.map((name) => (name.includes("://") ? name : `https://${name}`)))
    .default([]),
  /** TCP port; 0 takes any free one. (Default: 4000) */
  port: port().default(4000),
  /** Where the bytes of stored files lie. (Default: the folder ".svc/storage" on disk) */
  storage: z
    .discriminatedUnion(
      "driver",
      [
        z.strictObject({
          driver: z.literal("disk"),
          /** Folder of the bytes. (Default: ".svc/storage") */
          dir: folder().default(".svc/storage"),
        }),
        z.strictObject({
          driver: z.literal("s3"),
          bucket: z.string(must('a bucket\'s name, such as "files"')).min(1, must("a bucket's name")),
          /** URL of a store that is not Amazon's. (Default: Amazon's) */
          endpoint: z.url({ protocol: /^https?$/, ...must("a URL such as https://s3.example.com") }).optional(),
          /** (Default: the S3 client's own, AWS_REGION) */
          region: z.string(must('a region such as "eu-central-1"')).optional(),
        }),
      ],
      must('"disk" or "s3", as in { driver: "disk", dir } or { driver: "s3", bucket, endpoint, region }'),
    )
    .prefault({ driver: "disk" }),
  /** What the hosted plans allow; "free" turns image parameters off. (Default: "pro") */
  plan: plan().default("pro"),
  /** Folder of static files served at `/`. (Default: none) */
  webDir: folder().optional(),
  /** Headers of those files, in place of or beside the ones they have anyway; "" takes one away. (Default: {}) */
  webHeaders: z
    .record(z.string(), z.string(must(headers)), must(headers))
    .refine(areHeaders, must(headers))
    .default({}),
  /** Proxies in front whose X-Forwarded-* is believed: how many, all (true) or none (false). (Default: false) */
  trustProxy: z.union([z.boolean(), integer(0, 100, proxies)], must(proxies)).default(false),
  /** Which models answer, and what they may cost. Those called local-… run here; others at AI_BASE_URL. */
  ai: z
    .strictObject({
      /** For chat and stream. (Default: "gpt-4o-mini") */
      chatModel: model("gpt-4o-mini"),
      /** (Default: "local-hash", which compares words, not meaning) */
      embeddingModel: model("local-hash"),
      /** How many numbers an embedding has. (Default: 384, those of local-hash) */
      embeddingDimensions: whole(1, 16_000, "numbers", 384).default(384),
      /** (Default: "local-hash") */
      rerankModel: model("local-hash"),
      /** (Default: "local-tesseract") */
      visionModel: model("local-tesseract"),
      /** (Default: "local-espeak") */
      speechModel: model("local-espeak"),
      /** (Default: "local-pocketsphinx") */
      transcriptionModel: model("local-pocketsphinx"),
      /** How long one attempt at a provider may take, in milliseconds. (Default: 60000) */
      timeoutMs: milliseconds().default(60_000),
      /** The most one request may cost, in credits. (Default: 100) */
      creditsPerRequest: z
        .number(must("a number of credits"))
        .positive(must("a number of credits above 0"))
        .default(100),
      /** The most a user may spend in 24 hours, in credits; false: no limit. (Default: false) */
      creditsPerUserPerDay: z
        .union([z.literal(false), z.number().positive()], must("a number of credits above 0, or false for no limit"))
        .default(false),
    })
    .prefault({}),
  /** Who converts documents when the programs of this machine do not do. */
  documents: z
    .strictObject({
      /** The most that a conversion may cost that names no cap, in credits. (Default: 100) */
      defaultCap: z.number(must("a number of credits")).nonnegative(must("a number of credits from 0")).default(100),
      /** Endpoints of hosted providers, asked in this order. (Default: none) */
      hosted: z
        .strictObject({
          custom_vlm: hostedEndpoint(),
          hosted_ai_a: hostedEndpoint(),
          hosted_ai_b: hostedEndpoint(),
        })
        .prefault({}),
    })
    .prefault({}),
  /** The most a request may take. */
  limits: z
    .strictObject({
      /** Largest JSON body, in bytes. (Default: 1048576, 1 MiB) */
      jsonBytes: bytes().default(1_048_576),
      /** Largest multipart body with all its files, in bytes. (Default: 52428800, 50 MiB) */
      multipartBytes: bytes().default(52_428_800),
      /** Longest statement, in milliseconds. (Default: 15000) */
      statementTimeoutMs: milliseconds().default(15_000),
      /** Longest pause inside an open transaction, in milliseconds. (Default: 10000) */
      idleInTransactionMs: milliseconds().default(10_000),
      /** How long a stop waits for requests in flight, in milliseconds. (Default: 10000) */
      shutdownMs: milliseconds().default(10_000),
      /** Wrong passwords per account within 15 minutes, from networks it is not known by; false: no limit. (Default: 10) */
      signInsPerAccount: attempts(10),
      /** Wrong passwords per client address within 15 minutes; false: no limit. (Default: 100) */
      signInsPerAddress: attempts(100),
      /** Sign-ups per client address within an hour; false: no limit. (Default: 100) */
      signUpsPerAddress: attempts(100),
      /** Mails to one address within an hour; false: no limit. (Default: 5) */
      mailsPerAccount: attempts(5),
      /** Mails asked for per client address within an hour; false: no limit. (Default: 30) */
      mailsPerAddress: attempts(30),
      /** Bad one-time tokens per client address within 15 minutes; false: no limit. (Default: 300) */
      redemptionsPerAddress: attempts(300),
    })
    .prefault({}),
  /** Database connections per process. */
  pool: z
    .strictObject({
      /** For requests. (Default: 10) */
      request: connections().default(10),
      /** For unsafeDb and jobs. (Default: 4) */
      system: connections().default(4),
      /** For the auth library. (Default: 4) */
      auth: connections().default(4),
      /** How long a call waits for a free connection before 503, in milliseconds. (Default: 5000) */
      waitMs: milliseconds().default(5_000),
    })
    .prefault({}),
});

/** What `svc.config.ts` may say; every key is optional. */
export type SvcConfig = z.input<typeof fileSchema>;

const entries = (text: string): string[] =>
  text
    .split(",")
    .map((entry) => entry.trim())
    .filter(Boolean);
const databaseUrl = z.url({
  protocol: /^postgres(ql)?$/,
  ...must("a URL such as postgres://user:password@host:5432/name, special characters in the password percent-encoded"),
});
const secretRule = must(
  "secrets of at least 32 characters, newest first, separated by commas; try `openssl rand -hex 32`",
);

/** OpenID Connect: a URL without query and fragment, over TLS. This machine needs none, for tests. */
function isIssuer(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  const isLocal = hostname === "localhost" || hostname === "127.0.0.1";
  return (protocol === "https:" || (protocol === "http:" && isLocal)) && !username && !password && !/[?#@]/.test(text);
}

/** The environment variables. Read once, by name; a blank one counts as unset. `OTEL_*` is taken as it is. */
export const environmentSchema = z.object({
  NODE_ENV: z.string().optional(),
  PORT: z.string().regex(/^\d+$/, must(portNumber)).transform(Number).pipe(port()).optional(),
  DATABASE_URL: databaseUrl.optional(),
  DATABASE_SYSTEM_URL: databaseUrl.optional(),
  DATABASE_AUTH_URL: databaseUrl.optional(),
  DATABASE_ADMIN_URL: databaseUrl.optional(),
  DATABASE_REPLICATION_URL: databaseUrl.optional(),
  DATABASE_REPLICA_URLS: z.string().default("").transform(entries).pipe(z.array(databaseUrl)),
  AUTHLIB_URL: z.string().optional(),
  AUTHLIB_SECRET: z
    .string()
    .default("")
    .transform(entries)
    .pipe(z.array(z.string().min(32, secretRule))),
  GOOGLE_CLIENT_ID: z.string().optional(),
  GOOGLE_CLIENT_SECRET: z.string().optional(),
  GOOGLE_ISSUER: z
    .string()
    .refine(isIssuer, must("an issuer such as https://accounts.google.com, with http only on localhost or 127.0.0.1"))
    .default("https://accounts.google.com"),
  SVC_PLAN: plan().optional(),
  AI_BASE_URL: z.url({ protocol: /^https?$/, ...must("a URL such as https://ai.example.com/v1") }).optional(),
  AI_API_KEY: z.string().optional(),
  LOG_LEVEL: z
    .enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"], must("a level, such as info or debug"))
    .default("info"),
});

type Frozen<T> = T extends object ? { readonly [Key in keyof T]: Frozen<T[Key]> } : T;

/** The configuration in effect, deeply frozen. Folders are absolute; customDomains are origins. */
export type EffectiveConfig = Frozen<
  Omit<z.output<typeof fileSchema>, "schema" | "webDir" | "ai"> & {
    /** The application's folder. */
    cwd: string;
    /** The file that was read, or null when there is none. */
    file: string | null;
    /** Whether NODE_ENV is "production". */
    production: boolean;
    schema: string[];
    webDir: string | null;
    /** null without DATABASE_URL: the embedded cluster. A purpose without a URL of its own has that of requests. */
    database: null | (Record<"url" | "system" | "auth" | "admin" | "replication", string> & { replicas: string[] });
    auth: {
      /** The service's own public origin, AUTHLIB_URL. When null: http://localhost and the port that was bound. */
      url: string | null;
      /** Newest first: the first signs, all verify. Empty only outside production. */
      secrets: string[];
      google: null | { clientId: string; clientSecret: string; issuer: string };
    };
    ai: z.output<typeof fileSchema>["ai"] & { baseUrl: string | null; apiKey: string | null };
    logLevel: z.output<typeof environmentSchema>["LOG_LEVEL"];
    /** The OTEL_* variables, as they are. */
    otel: Record<string, string>;
  }
>;

/**
 * Types the configuration where it is written; it returns what it is given. `loadConfig` validates it.
 *
 * @example
 * export default defineConfig({ port: 4000, limits: { jsonBytes: 2_097_152 } });
 */
export function defineConfig(config: SvcConfig): SvcConfig {
  return config;
}

const SECRET_NAME = /secret|password|token|api_?key|headers/i;
const MASK = "***";

/**
 * Prints the configuration, one `path: value` per line, with secrets and the passwords of URLs masked.
 *
 * @example
 * console.log(describeConfig(await loadConfig())); // database.url: postgres://svc:***@db:5432/app
 */
export function describeConfig(config: EffectiveConfig): string {
  const lines = (path: string, value: unknown): string[] => {
    if (value === null || typeof value !== "object" || Array.isArray(value)) return [`${path}: ${show(path, value)}`];
    return Object.entries(value).flatMap(([key, inner]) => lines(path ? `${path}.${key}` : key, inner));
  };
  return lines("", config).join("\n");
}

function show(path: string, value: unknown): string {
  if (Array.isArray(value)) return value.map((entry) => show(path, entry)).join(", ") || "none";
  if (value === null || value === undefined) return "none";
  return SECRET_NAME.test(path) ? MASK : maskUrl(String(value));
}

/** Masks what a URL can hide: its password, over http also its user name (often a token), and telling parameters. */
function maskUrl(text: string): string {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  if (url.password) url.password = MASK;
  if (url.username && url.protocol.startsWith("http")) url.username = MASK;
  for (const name of new Set(url.searchParams.keys())) if (SECRET_NAME.test(name)) url.searchParams.set(name, MASK);
  // Unchanged text stays as written: the parser would add a slash to a bare origin.
  return url.href.includes(MASK) ? url.href : text;
}
