// If this file fails, a directory that provisions users by SCIM does not learn why a call was refused, and sends it again for ever.
import { createAuthEndpoint } from "better-auth/api";
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
const scim = {
  id: "scim",
  endpoints: {
    users: createAuthEndpoint("/scim/v2/Users", { method: "GET" }, answering(409, "application/scim+json")),
    groups: createAuthEndpoint("/scim/v2/Groups", { method: "GET" }, answering(500, "application/scim+json")),
    others: createAuthEndpoint("/scim/v2/Others", { method: "GET" }, answering(409, "application/json")),
  },
};
const db = database();
let server: AuthServer;
beforeAll(async () => {
  server = await startAuthServer(db, {
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
