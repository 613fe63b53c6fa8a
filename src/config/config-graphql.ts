/** The key `graphql` of `svc.config.ts`: whether it answers, and the most that one request may ask of it. */
import { z } from "zod";
import { milliseconds, must, whole } from "./config-rules.ts";

const decided = () => z.boolean(must("true or false")).optional();

export const graphqlSection = z
  .strictObject({
    /** Whether /api/graphql answers. (Default: true, in production false) */
    enabled: decided(),
    /** Whether it tells its schema to whoever asks. (Default: true, in production false) */
    introspection: decided(),
    /**
     * Whether a browser that opens /api/graphql gets Ruru, a page to write requests in. (Default: true, in production
     * false)
     */
    ruru: decided(),
    /** How deep fields may lie in each other. (Default: 12) */
    maxDepth: whole(1, 100, "levels", 12).default(12),
    /** Fields of a request, those of a fragment counted wherever it is spread. (Default: 400) */
    maxFields: whole(1, 100_000, "fields", 400).default(400),
    /** Fields that are given another name. (Default: 30) */
    maxAliases: whole(0, 100_000, "aliases", 30).default(30),
    /** Rows that a request could read, at most, and counts of them, each as 10. (Default: 5000) */
    maxCost: whole(1, 10_000_000, "rows", 5000).default(5000),
    /** Longest statement, in milliseconds; limits.statementTimeoutMs where that is less. (Default: 5000) */
    statementTimeoutMs: milliseconds().default(5000),
  })
  .prefault({});

/** What stands where the file says nothing. */
export function graphqlSettings(written: z.output<typeof graphqlSection>, production: boolean) {
  const { enabled = !production, introspection = !production, ruru = !production } = written;
  return { ...written, enabled, introspection, ruru };
}
