/**
 * The endpoints below /api/auth in the document, those of better-auth's plugins included.
 * Next hop: `src/auth/routes/` answers them; docs/reference/authentication.md says what they do.
 */
import type { BetterAuthOptions, BetterAuthPlugin } from "better-auth";
import type { ApiKeyOptions, AuthDefinition } from "../contract/auth.ts";
import { exactly, type JsonSchema, objectOf } from "../kit/json-schema.ts";
import { keyLimits } from "../kit/key-format.ts";
import {
  answers,
  anyone,
  errors,
  json,
  nobody,
  operation,
  type Part,
  pathParameters,
  type Security,
  signedIn,
  text,
} from "../kit/parts.ts";
import type { Schemas } from "../kit/schemas.ts";
import { libraryOptions } from "./library-options.ts";
import { endpointsOf } from "./plugins/plugins.ts";
import { labelOf, providersOf } from "./social/names.ts";

const object = (properties: Record<string, JsonSchema>, optional: readonly string[] = []) =>
  objectOf(properties, { required: Object.keys(properties).filter((name) => !optional.includes(name)) });

const email = text({ format: "email", maxLength: 254 });
const link = text({ maxLength: 2048, description: "A path, or an absolute URL on a listed origin." });
const user = { $ref: "#/components/schemas/User" };
const factor = { code: text({ maxLength: 100 }), backupCode: text({ maxLength: 100 }) };
const tokens = object({ user, sessionToken: text(), token: text({ description: "A JWT, good for five minutes." }) });
const success = object({ success: { const: true } });
const challenge = object({ twoFactorRedirect: { const: true }, twoFactorMethods: { type: "array", items: text() } });

export const userSchema = exactly({ id: text(), email: text(), name: text() });

interface Endpoint {
  summary: string;
  security?: Security;
  body?: JsonSchema;
  /** Whether the body may be omitted. */
  optional?: boolean;
  query?: Record<string, JsonSchema>;
  required?: string[];
  /** The answer's schema; null for a redirect. */
  answer: JsonSchema | null;
  /** Besides those of every body, and of every session. */
  errors?: Parameters<typeof errors>;
}

/** The lengths of a password depend on the `betterAuth` hook. */
function ownEndpoints({ emailAndPassword }: BetterAuthOptions, providers: readonly string[]): Record<string, Endpoint> {
  const { minPasswordLength: minLength, maxPasswordLength: maxLength } = emailAndPassword ?? {};
  const password = text({ maxLength });
  const newPassword = text({ minLength, maxLength });
  const signUp = object({ email, password: newPassword, name: text({ minLength: 1, maxLength: 200 }) });
  const signIn = object({ email, password, ...factor }, ["code", "backupCode"]);
  const keys = { type: "array", items: { type: "object" } };
  return {
    "post /sign-up": { summary: "Create an account, in token style", body: signUp, answer: tokens, errors: [403, 409] },
    "post /sign-in": { summary: "Sign in, in token style", body: signIn, answer: tokens, errors: [401, 403] },
    "post /token": {
      summary: "A fresh JWT for a session token",
      security: [{ bearer: [] }],
      answer: object({ token: text(), sessionToken: text() }, ["sessionToken"]),
      errors: [401],
    },
    "post /sign-up/email": {
      summary: "Create an account, in cookie style",
      body: signUp,
      answer: object({ user }),
      errors: [403, 409],
    },
    "post /sign-in/email": {
      summary: "Sign in, in cookie style",
      body: signIn,
      answer: { anyOf: [object({ user }), challenge] },
      errors: [401, 403],
    },
    "post /sign-out": { summary: "End the session", security: anyone, answer: success, errors: [401, 403] },
    "get /me": { summary: "Who is signed in", security: signedIn, answer: object({ user }) },
    "get /jwks": { summary: "The keys that verify JWTs (RFC 7517)", answer: object({ keys }) },
    "post /change-password": {
      summary: "Change the password; all other sessions end",
      security: signedIn,
      body: object({ currentPassword: password, newPassword }),
      answer: success,
    },
    "post /delete-user": {
      summary: "Delete the account",
      security: signedIn,
      body: object({ password }, ["password"]),
      optional: true,
      answer: success,
      errors: [409],
    },
    "post /sign-out-everywhere": { summary: "End all sessions of the user", security: signedIn, answer: success },
    "post /send-verification-email": {
      summary: "Send the verification mail again",
      security: signedIn,
      body: object({ callbackURL: link }, ["callbackURL"]),
      optional: true,
      answer: success,
    },
    "get /verify-email": {
      summary: "The target of the link in that mail",
      query: { token: text(), callbackURL: link },
      answer: null,
      errors: [400],
    },
    "post /request-password-reset": {
      summary: "Send a mail with a link to set a new password, if the account exists",
      body: object({ email, redirectTo: link }),
      answer: success,
      errors: [403],
    },
    "post /reset-password": {
      summary: "Set a new password with the token of that mail",
      body: object({ token: text(), newPassword }),
      answer: success,
      errors: [401, 403],
    },
    "get /sign-in/social/redirect": {
      summary: "Redirect to the provider's sign-in",
      query: {
        provider: text({ enum: [...providers] }),
        callbackURL: link,
        oauthReturnMode: text({ enum: ["token", "cookie"] }),
      },
      required: ["provider"],
      answer: null,
      errors: [400, 403, 404, 502],
    },
    ...Object.fromEntries(providers.map((id) => [`get /callback/${id}`, callbackOf(id)])),
    "post /oauth/exchange": {
      summary: "Exchange the one-time code of a social sign-in for a session",
      body: object({ code: text() }),
      answer: tokens,
      errors: [401, 403],
    },
  };
}

const callbackOf = (provider: string): Endpoint => ({
  summary: `The callback that ${labelOf(provider)} redirects to`,
  query: { state: text(), code: text(), error: text() },
  required: ["state"],
  answer: null,
  errors: [400, 403, 404],
});

/** Of users who let their own programs call. */
function keyEndpoints({ scopes }: ApiKeyOptions): Record<string, Endpoint> {
  const time = text({ format: "date-time" });
  const list = { type: "array", items: text({ enum: [...scopes] }) } as const;
  const lastUsedAt = { type: ["string", "null"], format: "date-time" };
  const shown = { id: text(), name: text(), start: text(), scopes: list, createdAt: time, expiresAt: time, lastUsedAt };
  const days = { type: "integer", minimum: 1, maximum: keyLimits.maxDays, default: keyLimits.days };
  const name = text({ minLength: 1, maxLength: 100 });
  return {
    "post /api-keys": {
      summary: "Create an API key; only this answer has it",
      security: signedIn,
      body: object({ name, scopes: { ...list, minItems: 1 }, expiresInDays: days }, ["expiresInDays"]),
      answer: object({ ...shown, key: text() }),
      errors: [409],
    },
    "get /api-keys": {
      summary: "The API keys of the user, without the keys themselves",
      security: signedIn,
      answer: object({ apiKeys: { type: "array", items: object(shown) } }),
    },
    "delete /api-keys": {
      summary: "Revoke all API keys of the user",
      security: signedIn,
      answer: object({ revoked: { type: "integer" } }),
    },
    "delete /api-keys/:id": { summary: "Revoke an API key", security: signedIn, answer: success, errors: [404] },
  };
}

export function authPaths(definition: AuthDefinition, schemas: Schemas): Record<string, Part> {
  const paths: Record<string, Part> = {};
  const mount = (method: string, path: string, part: Part) => {
    const full = `/api/auth${path.replace(/:(\w+)/g, "{$1}")}`;
    paths[full] = { ...paths[full], [method]: part };
  };
  const options = libraryOptions(definition, {}, { secrets: [], baseURL: "http://localhost", basePath: "/api/auth" });
  const own = {
    ...ownEndpoints(options, providersOf(definition)),
    ...(definition.apiKeys && keyEndpoints(definition.apiKeys)),
  };
  for (const [key, endpoint] of Object.entries(own)) {
    const [method = "", path = ""] = key.split(" ");
    mount(method, path, ownOperation(method, path, endpoint));
  }
  for (const { id, path, methods, body } of endpointsOf(options.plugins ?? [])) {
    for (const method of methods) mount(method.toLowerCase(), path, pluginOperation(id, method, path, body, schemas));
  }
  return paths;
}

const idOf = (method: string, path: string) => `svc-auth-${method}${path.replace(/[^A-Za-z0-9]+/g, "-")}`;

function ownOperation(method: string, path: string, endpoint: Endpoint): Part {
  const { summary, security = nobody, body, optional, query = {}, required = [], answer, errors: own = [] } = endpoint;
  const inQuery = Object.entries(query).map(([name, schema]) => ({
    name,
    in: "query",
    required: required.includes(name),
    schema,
  }));
  const parameters = [...pathParameters(path), ...inQuery];
  const location = { location: { description: "The next address.", schema: text() } };
  return operation(idOf(method, path), "authentication", summary, security, {
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: !optional, content: json(body) } }),
    responses: {
      ...(answer ? { 200: answers("Done.", json(answer)) } : { 302: answers("A redirect.", undefined, location) }),
      ...errors(...own, ...(body ? [400, 413, 415] : []), ...(security === signedIn ? [401, 403] : [])),
    },
  });
}

/** Plugin answers have no known schema. The input may have one. */
function pluginOperation(
  plugin: BetterAuthPlugin["id"],
  method: string,
  path: string,
  body: unknown,
  schemas: Schemas,
): Part {
  const id = idOf(method.toLowerCase(), path);
  const isSchema = typeof body === "object" && body !== null && "~standard" in body;
  const taken = isSchema ? schemas.describe(id, body as never, "input") : undefined;
  const parameters = pathParameters(path);
  return operation(id, "authentication", `An endpoint of the better-auth plugin ${plugin}`, anyone, {
    ...(parameters.length > 0 && { parameters }),
    ...(method !== "GET" && { requestBody: { content: json(taken ?? {}) } }),
    responses: {
      200: answers("The plugin's answer.", { ...json({}), "*/*": {} }),
      302: answers("A redirect.", undefined, { location: { schema: text() } }),
      ...errors(400, 401, 403, 404, 409, 413, 415),
    },
  });
}
