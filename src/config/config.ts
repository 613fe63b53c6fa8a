/**
 * The keys of `svc.config.ts`, with units and defaults, and the effective configuration, which also includes the
 * environment (`config-environment.ts`).
 * Next hop: `load-config.ts` reads both, merges them (the environment wins) and freezes the result.
 */
import { z } from "zod";
import { boolean, integer, must } from "../kit/options.ts";
import { aiSection, documentsSection } from "./config-ai.ts";
import type { environmentSchema } from "./config-environment.ts";
import { graphqlSection, type graphqlSettings } from "./config-graphql.ts";
import {
  attempts,
  bytes,
  connections,
  fileBytes,
  folder,
  headers,
  host,
  hostName,
  milliseconds,
  pageFile,
  plan,
  port,
  quota,
  whole,
} from "./config-rules.ts";
import { type WebhookSettings, webhooksSection } from "./config-webhooks.ts";

const texts = (be: string) => z.array(z.string(must(be)), must(`a list in which each entry is ${be}`));
const proxies = "true, false or the number of proxies, for example 1";
const schemaFiles = 'a file such as "./backend/schema.ts", or a list of them';
const historyDays = "a whole number of days from 1 to 36500, for example 730, or false for ever";
const historyLength = "a whole number of jobs from 1 to 100000, for example 10000, or false for no history";

/** The file's shape. Strict: an unknown key is an error, since a mistyped limit would otherwise be no limit. */
export const fileSchema = z.strictObject({
  /** Folder of the backend code. (Default: "./backend") */
  rootDir: folder().default("./backend"),
  /** The Drizzle schema: a file, or several. (Default: schema.ts in rootDir) */
  schema: z.union([folder(), z.array(folder()).min(1, must(schemaFiles))], must(schemaFiles)).optional(),
  /** Options of `svc codegen`. */
  codegen: z
    .strictObject({
      /** Whether the auth schema file is generated; false when the application owns it. (Default: true) */
      authSchema: boolean().default(true),
      /** Folder of the generated browser files (`src/app/api.ts`). (Default: "./web/svc") */
      clientOutDir: folder().default("./web/svc"),
    })
    .prefault({}),
  /** Origins of external frontends, exact: scheme://host[:port], https in production. (Default: none) */
  frontendOrigins: texts("an origin such as https://app.example.com").default([]),
  /** Host names under which this service is reached besides AUTHLIB_URL, without scheme. (Default: none) */
  customDomains: texts("a host name such as app.example.com")
    // Their origins are always https. A given scheme is accepted; loading checks it.
    .transform((names) => names.map((name) => (name.includes("://") ? name : `https://${name}`)))
    .default([]),
  /** TCP port; 0 takes any free one. (Default: 4000) */
  port: port().default(4000),
  /** The address to listen on. (Default: all in production, otherwise "127.0.0.1", for this machine only) */
  host: host().optional(),
  /**
   * Allowed host names, besides localhost, IP addresses and those of its origins; ".example.com" allows its subdomains,
   * true any. (Default: none; in production any)
   */
  allowedHosts: z.union([z.literal(true), z.array(hostName())], must("true, or a list of host names")).optional(),
  /** Where stored files are kept. (Default: the folder ".svc/storage" on disk) */
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
          /** URL of an S3-compatible store. (Default: Amazon's) */
          endpoint: z.url({ protocol: /^https?$/, ...must("a URL such as https://s3.example.com") }).optional(),
          /** (Default: the S3 client's own, AWS_REGION) */
          region: z.string(must('a region such as "eu-central-1"')).optional(),
          /** Whether the bucket is part of the path, and not of the host name. (Default: true with an endpoint) */
          pathStyle: boolean().optional(),
        }),
      ],
      must('"disk" or "s3", as in { driver: "disk", dir } or { driver: "s3", bucket, endpoint, region }'),
    )
    .prefault({ driver: "disk" }),
  /** Multipart uploads that signed-in users start without a handler of the application. */
  uploads: z
    .strictObject({
      /** Whether new uploads are accepted. (Default: true) */
      enabled: boolean().default(true),
      /** Whether uploads may be public from the start; handlers may make any file public. (Default: false) */
      public: boolean().default(false),
    })
    .prefault({}),
  /** What the hosted plans allow; "free" turns image parameters off. (Default: "pro") */
  plan: plan().default("pro"),
  /** Folder of static files served at `/`. (Default: none) */
  webDir: folder().optional(),
  /** File of webDir that answers visits of other paths, for pages whose paths are made in the browser. (Default: none: 404) */
  webFallback: pageFile().optional(),
  /** Headers that replace or extend the defaults of those files; "" removes one. (Default: {}) */
  webHeaders: headers().default({}),
  /** The description of the API. */
  openapi: z
    .strictObject({
      /** Whether /openapi.json is served. (Default: true) */
      document: boolean().default(true),
      /** Whether /openapi shows it as a page; requires the document. (Default: outside production) */
      reference: boolean().optional(),
    })
    .prefault({}),
  /** Trusted proxies, whose X-Forwarded-* is used: how many, all (true) or none (false). (Default: false) */
  trustProxy: z.union([z.boolean(), integer(0, 100, proxies)], must(proxies)).default(false),
  /** The models and their cost limits. Models named local-… run here; others at AI_BASE_URL. */
  ai: aiSection,
  /** Providers that convert documents when this machine's programs fail. */
  documents: documentsSection,
  /** Tables over GraphQL, at /api/graphql. */
  graphql: graphqlSection,
  /** What webhooks send. */
  webhooks: webhooksSection,
  /** Limits of requests and users. */
  limits: z
    .strictObject({
      /** Largest JSON body, in bytes. (Default: 1048576, 1 MiB) */
      jsonBytes: bytes().default(1_048_576),
      /** Largest multipart body with all its files, in bytes. (Default: 52428800, 50 MiB) */
      multipartBytes: bytes().default(52_428_800),
      /**
       * Memory for request bodies, of all requests together, in bytes. One address gets a quarter; the largest body
       * always fits. (Default: 268435456, 256 MiB)
       */
      bodyMemoryBytes: fileBytes().default(268_435_456),
      /** Disk for files of multipart bodies, shared likewise, in bytes. (Default: 2147483648, 2 GiB) */
      formDiskBytes: fileBytes().default(2_147_483_648),
      /** Minimum rate of an arriving body, in bytes per second. (Default: 1024) */
      bodyBytesPerSecond: whole(1, 1_048_576, "bytes", 1024).default(1024),
      /** The time over which that rate is measured, in milliseconds. (Default: 30000) */
      bodyWindowMs: whole(100, 300_000, "milliseconds", 30_000).default(30_000),
      /** Largest file that is uploaded in parts or to a signed URL, in bytes. (Default: 1073741824, 1 GiB) */
      uploadBytes: fileBytes().default(1_073_741_824),
      /** Unfinished multipart uploads per user. (Default: 20) */
      uploadsPerUser: whole(1, 1000, "uploads", 20).default(20),
      /** Stored files and uploads of a user together, in bytes; false: no limit. (Default: 10737418240, 10 GiB) */
      storageBytesPerUser: quota(10_737_418_240),
      /** The same of all callers who are not signed in. (Default: 1073741824, 1 GiB) */
      storageBytesAnonymous: quota(1_073_741_824),
      /** The same for all callers together. The system's files count, but are never refused. (Default: 107374182400, 100 GiB) */
      storageBytes: quota(107_374_182_400),
      /** Longest statement, in milliseconds. (Default: 15000) */
      statementTimeoutMs: milliseconds().default(15_000),
      /**
       * Longest statement of a generated procedure, in milliseconds; limits.statementTimeoutMs where that is less.
       * (Default: 5000)
       */
      generatedTimeoutMs: milliseconds().default(5_000),
      /** Largest row that PostgreSQL sends to a call, such as a generated list, in bytes. (Default: 67108864, 64 MiB) */
      rowBytes: whole(65_536, 268_435_456, "bytes", 67_108_864).default(67_108_864),
      /** Longest pause inside an open transaction, in milliseconds. (Default: 10000) */
      idleInTransactionMs: milliseconds().default(10_000),
      /** Exports of rows at once, in one process; never more than half of `pool.request`. (Default: 4) */
      exports: whole(1, 100, "exports", 4).default(4),
      /** Longest export of rows, in milliseconds. (Default: 600000, 10 minutes) */
      exportMs: milliseconds().default(600_000),
      /** Finished jobs that the history keeps; false: none. (Default: 10000) */
      finishedJobs: z
        .union([z.literal(false), integer(1, 100_000, historyLength)], must(historyLength))
        .default(10_000),
      /** How long it keeps them, in days. (Default: 7) */
      finishedJobDays: whole(1, 366, "days", 7).default(7),
      /** How long changes of audited tables are kept, in days; whole months are removed. false: for ever. (Default: false) */
      historyDays: z.union([z.literal(false), integer(1, 36_500, historyDays)], must(historyDays)).default(false),
      /** How long deliveries of webhooks are kept that were sent, or are dead, in days. (Default: 30) */
      webhookDays: whole(1, 366, "days", 30).default(30),
      /** How long a stop waits for requests in flight, in milliseconds. (Default: 10000) */
      shutdownMs: milliseconds().default(10_000),
      /**
       * How long a stopping process still accepts requests, while /readyz says 503 and each answer closes its
       * connection, in milliseconds. (Default: 1000 in production, else 0)
       */
      lingerMs: whole(0, 600_000, "milliseconds", 5_000).optional(),
      /** Requests per client address within a minute, to one process; false: no limit. (Default: 30000) */
      requestsPerAddress: attempts(30_000, "requests"),
      /** Requests per user within a minute, to one process; false: no limit. (Default: 6000) */
      requestsPerUser: attempts(6_000, "requests"),
      /** Sockets that a client address may have open to one process; false: no limit. (Default: 2000) */
      socketsPerAddress: attempts(2_000, "sockets"),
      /** Wrong passwords per account within 15 minutes, from networks it is not known by; false: no limit. (Default: 10) */
      signInsPerAccount: attempts(10),
      /** Wrong passwords per client address within 15 minutes; false: no limit. (Default: 100) */
      signInsPerAddress: attempts(100),
      /** Passwords per account within 15 minutes, right ones included; false: no limit. (Default: 100) */
      passwordsPerAccount: attempts(100),
      /** Passwords per client address within 15 minutes, right ones included; false: no limit. (Default: 1000) */
      passwordsPerAddress: attempts(1_000),
      /** Sign-ups per client address within an hour; false: no limit. (Default: 100) */
      signUpsPerAddress: attempts(100),
      /** Mails to one address within an hour; false: no limit. (Default: 5) */
      mailsPerAccount: attempts(5),
      /** Mails asked for per client address within an hour; false: no limit. (Default: 30) */
      mailsPerAddress: attempts(30),
      /** Mails of sign-in to all addresses together within an hour; false: no limit. (Default: 10000) */
      mails: attempts(10_000),
      /** Text messages of sign-in to all telephones together within an hour; false: no limit. (Default: 300) */
      texts: attempts(300),
      /** Bad one-time tokens per client address within 15 minutes; false: no limit. (Default: 300) */
      redemptionsPerAddress: attempts(300),
    })
    .prefault({}),
  /** Database connections per process. */
  pool: z
    .strictObject({
      /** For requests. (Default: 10) */
      request: connections().default(10),
      /** For requests of one caller at once: a user, or an address that is not signed in. (Default: half of request) */
      perCaller: connections().optional(),
      /** For unsafeDb and jobs. (Default: 4) */
      system: connections().default(4),
      /** For the auth library. (Default: 4) */
      auth: connections().default(4),
      /** How long a call waits for a free connection before 503, in milliseconds. (Default: 5000) */
      waitMs: milliseconds().default(5_000),
    })
    .prefault({}),
});

/** The input type of `svc.config.ts`; every key is optional. */
export type SvcConfig = z.input<typeof fileSchema>;

type Frozen<T> = T extends object ? { readonly [Key in keyof T]: Frozen<T[Key]> } : T;

/** The configuration in effect, deeply frozen. Folders are absolute; customDomains are origins. */
export type EffectiveConfig = Frozen<
  Omit<
    z.output<typeof fileSchema>,
    "schema" | "host" | "allowedHosts" | "webDir" | "ai" | "graphql" | "openapi" | "webhooks"
  > & {
    /** The application's folder. */
    cwd: string;
    /** The file that was read, or null if there is none. */
    file: string | null;
    /** Whether NODE_ENV is "production". */
    production: boolean;
    schema: string[];
    /** null: all addresses. */
    host: string | null;
    /** null: not configured; then the default depends on `production`. */
    allowedHosts: string[] | true | null;
    webDir: string | null;
    openapi: { document: boolean; reference: boolean };
    /** null without DATABASE_URL: the embedded cluster. A purpose without its own URL uses that of requests. */
    database:
      | null
      | (Record<"url" | "system" | "queue" | "auth" | "admin" | "replication", string> & {
          replicas: string[];
          /** For `svc db drift`. */
          scratch: string | null;
          /** For `svc studio`; without `act` it only reads. */
          studio: { read: string; act: string | null } | null;
        });
    auth: {
      /** The service's own public origin, AUTHLIB_URL. If null: http://localhost and the bound port. */
      url: string | null;
      /** Newest first: the first signs, all verify. Empty only outside production. */
      secrets: string[];
      /** Secrets shared with bridges, which sign their visitors' addresses, SVC_BRIDGE_SECRET. All are valid. */
      bridgeSecrets: string[];
      google: null | { clientId: string; clientSecret: string; issuer: string };
      /** The variables …_CLIENT_ID, …_CLIENT_SECRET and …_ISSUER, unchanged: `auth.ts` names their providers. */
      clients: Record<string, string>;
    };
    graphql: ReturnType<typeof graphqlSettings>;
    webhooks: WebhookSettings;
    ai: z.output<typeof fileSchema>["ai"] & { baseUrl: string | null; apiKey: string | null };
    logLevel: z.output<typeof environmentSchema>["LOG_LEVEL"];
    /** The token for reading /metrics, METRICS_TOKEN. null: `metrics-access.ts` defines who may read. */
    metricsToken: string | null;
    /** The OTEL_* variables, unchanged. */
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
