/**
 * Packages that an application installs only if it uses a feature: they are optional peer dependencies of @svc/core.
 * Code that needs one calls `requirePackages` before it imports the package.
 * Next hop: `installed-at.ts` finds packages; docs/adr/0023-what-is-installed.md says why these are optional.
 */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { DefinitionError } from "./definition-error.ts";
import { installedAt } from "./installed-at.ts";
import { SvcError } from "./svc-error.ts";

interface Feature {
  /** The start of a sentence that ends in "needs these packages". */
  what: string;
  packages: readonly string[];
  /** Of svc's own: with these beside them npm chooses versions that fit. (Default: none) */
  beside?: readonly string[];
  /** Only needed while developing. (Default: in production too) */
  isDevelopment?: boolean;
}

export const features = {
  ai: { what: "Calling AI models (AI_BASE_URL)", packages: ["@ai-sdk/openai-compatible", "ai"] },
  dev: { what: "Writing migrations from the schema", packages: ["@svc/dev"], isDevelopment: true },
  documents: { what: "Converting documents", packages: ["@svc/documents"] },
  graphql: {
    what: "GraphQL (graphql.enabled)",
    packages: ["@dataplan/pg", "grafast", "graphile-build", "graphile-build-pg", "pg-sql2"],
  },
  mcp: {
    what: "The server for coding agents (svc mcp)",
    packages: ["@modelcontextprotocol/sdk"],
    isDevelopment: true,
  },
  passkeys: {
    what: "Sign-in with passkeys (passkeys of defineAuth)",
    packages: ["@better-auth/passkey"],
    beside: ["better-auth", "@better-auth/core"],
  },
  ruru: { what: "The GraphQL editor (graphql.ruru)", packages: ["ruru"], isDevelopment: true },
  s3: {
    what: 'Storing files in S3 (storage.driver "s3")',
    packages: ["@aws-sdk/client-s3", "@aws-sdk/lib-storage"],
  },
  tracing: {
    what: "Exporting traces (OTEL_EXPORTER_OTLP_ENDPOINT)",
    packages: [
      "@opentelemetry/api",
      "@opentelemetry/exporter-trace-otlp-http",
      "@opentelemetry/resources",
      "@opentelemetry/sdk-trace",
    ],
  },
} as const satisfies Record<string, Feature>;

export type FeatureName = keyof typeof features;

const here = resolve(import.meta.dirname, "../..");

/**
 * What is missing for a feature, and the command that installs it in the versions that svc was tested with.
 *
 * @param platform the folder of @svc/core (Default: this one)
 * @returns null if everything is installed
 */
export function missingPackages(name: FeatureName, platform = here): { message: string; hint: string } | null {
  const { what, packages, beside = [], isDevelopment = false }: Feature = features[name];
  const missing = packages.filter((one) => installedAt(one, join(platform, "src")) === undefined);
  if (missing.length === 0) return null;
  const [noun, verb] = missing.length === 1 ? ["the package", "is"] : ["the packages", "are"];
  return {
    message: `${what} needs ${noun} ${missing.join(", ")}, which ${verb} not installed.`,
    hint: `In the application's folder: ${installCommand([...beside, ...missing], isDevelopment, platform)}`,
  };
}

/**
 * For a start or a command that cannot continue.
 *
 * @throws DefinitionError naming the command that installs what is missing
 */
export function requirePackages(name: FeatureName): void {
  const missing = missingPackages(name);
  if (missing) throw new DefinitionError(missing.message, { hint: missing.hint });
}

/** For a call: the rest of the service works. @throws SvcError NOT_INSTALLED */
export function requirePackagesForCall(name: FeatureName): void {
  const missing = missingPackages(name);
  if (missing) throw new SvcError("NOT_INSTALLED", missing.message, { hint: missing.hint });
}

function installCommand(packages: readonly string[], isDevelopment: boolean, platform: string): string {
  const { dependencies, peerDependencies } = readManifest(platform);
  const archives = archiveFolder(platform);
  const words = packages.map((name) => {
    const version = (peerDependencies?.[name] ?? dependencies?.[name])?.replace("^", "") ?? "";
    if (archives === null || !name.startsWith("@svc/")) return `${name}@${version}`;
    return `${archives}${name.replace("@svc/", "svc-")}-${version}.tgz`;
  });
  return ["npm install", ...(isDevelopment ? ["--save-dev"] : []), ...words].join(" ");
}

/** Where the application has @svc/core's archive from, if it was not the registry: the others lie beside it. */
function archiveFolder(platform: string): string | null {
  try {
    const { dependencies } = readManifest(resolve(platform, "../../.."));
    return /^file:(.*)svc-core-[^/]*\.tgz$/.exec(dependencies?.["@svc/core"] ?? "")?.[1] ?? null;
  } catch {
    return null; // not below an application's node_modules
  }
}

const readManifest = (folder: string): Record<string, Record<string, string> | undefined> =>
  JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
