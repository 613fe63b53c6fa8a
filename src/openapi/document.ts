/**
 * Builds the OpenAPI 3.1 document of an application: its procedures and routes, and the platform's endpoints. It uses
 * only definitions, so it needs no database.
 * Source: https://spec.openapis.org/oas/v3.1.1
 * Next hop: `calls.ts`, `routes.ts`, `builtin*.ts` for the paths; `src/server/openapi.ts` serves it.
 */
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { authPaths, userSchema } from "../auth/openapi.ts";
import type { EffectiveConfig } from "../config/config.ts";
import type { LoadedApp } from "../contract/loaded-app.ts";
import { errorResponses, errorSchema, headers, type Part, securitySchemes } from "../kit/parts.ts";
import { Schemas } from "../kit/schemas.ts";
import { exportPaths } from "../transfer/openapi.ts";
import { builtInPaths } from "./builtin.ts";
import { callPaths } from "./calls.ts";
import { routePaths } from "./routes.ts";

export interface OpenApiDocument {
  openapi: "3.1.1";
  info: { title: string; version: string; description: string };
  servers: { url: string }[];
  tags: { name: string }[];
  paths: Record<string, Part>;
  components: Record<string, Part>;
}

/** @param url public address of the service, for example https://api.example.com */
export function openApiDocument(
  app: Pick<LoadedApp, "api" | "auth">,
  config: EffectiveConfig,
  url: string,
): OpenApiDocument {
  const schemas = new Schemas();
  schemas.add("Error", errorSchema);
  schemas.add("User", userSchema);
  const api = app.api["~svc"];
  const paths: Record<string, Part> = {
    ...callPaths(api, schemas),
    ...routePaths(api.routes, schemas),
    ...authPaths(app.auth, schemas),
    ...exportPaths(api.crud),
    ...builtInPaths(config),
  };
  return {
    openapi: "3.1.1",
    info: { ...packageOf(config.cwd), description },
    servers: [{ url }],
    tags: tagsOf(paths),
    paths,
    components: {
      schemas: schemas.all,
      responses: errorResponses,
      headers,
      securitySchemes: securitySchemes(`${url.startsWith("https:") ? "__Secure-" : ""}authlib.session_token`),
    },
  };
}

const description = [
  "Procedures are called by POST, each at its own path: `args` in, `json` out. Values that JSON lacks (dates, bigints, sets)",
  'travel as `{ "json": …, "meta": […] }`; the schemas describe what `json` then holds. Every error has the form `Error`,',
  "with a `code` that identifies it. Requests are counted per address and per user; beyond the limit the answer is 429 with",
  "`Retry-After`.",
].join("\n");

/** Name and version of the application's package.json; the folder's name where it has none. */
function packageOf(cwd: string): { title: string; version: string } {
  try {
    const { name, version } = JSON.parse(readFileSync(join(cwd, "package.json"), "utf8"));
    return { title: String(name ?? basename(cwd)), version: String(version ?? "0.0.0") };
  } catch {
    return { title: basename(cwd), version: "0.0.0" };
  }
}

function tagsOf(paths: Record<string, Part>): { name: string }[] {
  const operations = Object.values(paths).flatMap((item) => Object.values(item));
  const names = operations.flatMap((operation) => (operation as { tags?: string[] }).tags ?? []);
  return [...new Set(names)].map((name) => ({ name }));
}
