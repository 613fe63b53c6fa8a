/** The environment variables, with the error message for each. Next hop: `load-config.ts`. */
import { z } from "zod";
import { readDifferently } from "../cluster/libpq.ts";
import { isIssuer } from "../kit/issuer.ts";
import { must } from "../kit/options.ts";
import { host, hostName, plan, port, portNumber } from "./config-rules.ts";

const entries = (text: string): string[] =>
  text
    .split(",")
    .map((entry) => entry.trim())
    .filter(Boolean);
const databaseUrl = z
  .url({
    protocol: /^postgres(ql)?$/,
    hostname: /^[^,]*$/,
    ...must(
      "a URL with one host, such as postgres://user:password@host:5432/name, special characters in the password percent-encoded",
    ),
  })
  .superRefine((url, context) => {
    const different = readDifferently(url);
    if (different) context.addIssue(different.join(" "));
  });
const secretRule = must(
  "secrets of at least 32 characters, newest first, separated by commas; try `openssl rand -hex 32`",
);

const secrets = () =>
  z
    .string()
    .default("")
    .transform((text) => [...new Set(entries(text))])
    .pipe(z.array(z.string().min(32, secretRule)));

/** The environment variables. Read once, by name; a blank one counts as unset. `OTEL_*` is passed on unchanged. */
export const environmentSchema = z.object({
  NODE_ENV: z.string().optional(),
  PORT: z.string().regex(/^\d+$/, must(portNumber)).transform(Number).pipe(port()).optional(),
  SVC_HOST: host().optional(),
  SVC_ALLOWED_HOSTS: z.string().transform(entries).pipe(z.array(hostName())).optional(),
  DATABASE_URL: databaseUrl.optional(),
  DATABASE_SYSTEM_URL: databaseUrl.optional(),
  DATABASE_QUEUE_URL: databaseUrl.optional(),
  DATABASE_AUTH_URL: databaseUrl.optional(),
  DATABASE_ADMIN_URL: databaseUrl.optional(),
  DATABASE_REPLICATION_URL: databaseUrl.optional(),
  DATABASE_SCRATCH_URL: databaseUrl.optional(),
  DATABASE_STUDIO_URL: databaseUrl.optional(),
  DATABASE_STUDIO_ACT_URL: databaseUrl.optional(),
  DATABASE_REPLICA_URLS: z.string().default("").transform(entries).pipe(z.array(databaseUrl)),
  AUTHLIB_URL: z.string().optional(),
  AUTHLIB_SECRET: secrets(),
  SVC_BRIDGE_SECRET: secrets(),
  GOOGLE_CLIENT_ID: z.string().optional(),
  GOOGLE_CLIENT_SECRET: z.string().optional(),
  GOOGLE_ISSUER: z
    .string()
    .refine(isIssuer, must("an issuer such as https://accounts.google.com, with http only on localhost or 127.0.0.1"))
    .default("https://accounts.google.com"),
  SVC_PLAN: plan().optional(),
  AI_BASE_URL: z.url({ protocol: /^https?$/, ...must("a URL such as https://ai.example.com/v1") }).optional(),
  AI_API_KEY: z.string().optional(),
  METRICS_TOKEN: z.string().min(16, must("a secret of at least 16 characters")).optional(),
  LOG_LEVEL: z
    .enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"], must("a level, such as info or debug"))
    .default("info"),
});
