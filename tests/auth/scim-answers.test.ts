// If this file fails, a directory that provisions users by SCIM does not learn why a call was refused, and sends it again for ever.
import { type APIError, createAuthEndpoint } from "better-auth/api";
import { afterAll, beforeAll, expect, test } from "vitest";
import { defineAuth } from "../../src/contract/auth.ts";
import { type AuthServer, startAuthServer } from "../support/auth-server.ts";
import { database } from "../support/database.ts";

/** As `@better-auth/scim` refuses a user that there is (RFC 7644, section 3.12). */
const taken = {
  schemas: ["urn:ietf:params:scim:api:messages:2.0:Error"],
  status: "409",
  scimType: "uniqueness",
  detail: "User already exists",
};
const answering = (status: number, type: string) => async () =>
  new Response(JSON.stringify(taken), { status, headers: { "content-type": type } });
/** Makes a user. As in `@better-auth/scim`, an error of the library becomes another one, without its headers. */
const provisioning = createAuthEndpoint("/scim/v2/Users", { method: "POST" }, async ({ context }) => {
  const email = `${crypto.randomUUID()}@example.com`;
  try {
    return Response.json(await context.internalAdapter.createUser({ email, name: "" }, { method: "scim" }), {
      status: 201,
    });
  } catch (error) {
    const { statusCode: status } = error as APIError;
    const body = { schemas: taken.schemas, status: String(status), detail: "Too many attempts." };
    return new Response(JSON.stringify(body), { status, headers: { "content-type": "application/scim+json" } });
  }
});
const scim = {
  id: "scim",
  endpoints: {
    users: createAuthEndpoint("/scim/v2/Users", { method: "GET" }, answering(409, "application/scim+json")),
    groups: createAuthEndpoint("/scim/v2/Groups", { method: "GET" }, answering(500, "application/scim+json")),
    provisioning,
    others: createAuthEndpoint("/scim/v2/Others", { method: "GET" }, answering(409, "application/json")),
  },
};
const db = database();
let server: AuthServer;
beforeAll(async () => {
  server = await startAuthServer(db, {
    limits: { signUpsPerAddress: 2 },
    definition: defineAuth({ betterAuth: (all) => ({ ...all, plugins: [scim] }) }),
  });
});
afterAll(() => server.close());

test("a refusal in the form of SCIM keeps it, and an error of the service says nothing", async () => {
  const { status, headers, body } = await server.get("/scim/v2/Users");
  expect([status, headers.get("content-type"), body]).toEqual([409, "application/scim+json", taken]);
  expect((await server.get("/scim/v2/Groups")).body.code).toBe("INTERNAL");
  expect((await server.get("/scim/v2/Others")).body.code).toBe("CONFLICT");
});

test("a directory is told when it may make more users", async () => {
  const statuses = [];
  for (let user = 0; user < 3; user++) statuses.push(await server.post("/scim/v2/Users", {}));
  expect(statuses.map(({ status }) => status)).toEqual([201, 201, 429]);
  expect(statuses.map(({ headers }) => headers.get("retry-after") ?? "")).toEqual([
    "",
    "",
    expect.stringMatching(/^[1-9]\d*$/),
  ]);
  expect(statuses[2]?.body.schemas).toEqual(taken.schemas);
});
