/** The key `graphql` of `svc.config.ts`: whether it is on, and the limits of one request. */
import { z } from "zod";
import { boolean } from "../kit/options.ts";
import { milliseconds, whole } from "./config-rules.ts";

export const graphqlSection = z
  .strictObject({
    /** Whether /api/graphql answers. (Default: true, in production false) */
    enabled: boolean().optional(),
    /** Whether introspection is allowed. (Default: true, in production false) */
    introspection: boolean().optional(),
    /** Whether browsers get Ruru, a query editor, at /api/graphql. (Default: true, in production false) */
    ruru: boolean().optional(),
    /** Maximum nesting of fields. (Default: 12) */
    maxDepth: whole(1, 100, "levels", 12).default(12),
    /** Maximum fields of a request; fields of a fragment count at each spread. (Default: 400) */
    maxFields: whole(1, 100_000, "fields", 400).default(400),
    /** Maximum number of aliases. (Default: 30) */
    maxAliases: whole(0, 100_000, "aliases", 30).default(30),
    /** Maximum rows that a request could read; each count of rows adds 10. (Default: 5000) */
    maxCost: whole(1, 10_000_000, "rows", 5000).default(5000),
    /** Longest statement, in milliseconds; limits.statementTimeoutMs where that is less. (Default: 5000) */
    statementTimeoutMs: milliseconds().default(5000),
  })
  .prefault({});

/** Fills in defaults that depend on production. */
export function graphqlSettings(written: z.output<typeof graphqlSection>, production: boolean) {
  const { enabled = !production, introspection = !production, ruru = !production } = written;
  return { ...written, enabled, introspection, ruru };
}
