// If this file fails, passkeys of pages are made for a host that their sign-in does not name, or a change of the configuration
// ends all of them without a word.
import { passkey } from "@better-auth/passkey";
import type { BetterAuthPlugin } from "better-auth";
import { expect, test } from "vitest";
import { authTables } from "../../src/auth/auth-tables.ts";
import { libraryOptions } from "../../src/auth/library-options.ts";
import { type AuthDefinition, defineAuth } from "../../src/contract/auth.ts";

type Passkeys = AuthDefinition["passkeys"];

function optionsOf(passkeys: Passkeys, [own = "", ...pages]: string[], further: AuthDefinition = {}) {
  const fixed = { baseURL: own, trustedOrigins: [own, ...pages] };
  const { plugins } = libraryOptions(defineAuth({ ...further, passkeys }), {}, fixed);
  const { rpID, rpName, origin } = plugins?.find(({ id }) => id === "passkey")?.options ?? {};
  return { rpID, rpName, origin };
}

const [app, api, other, elsewhere] = [
  "https://app.example.com",
  "https://api.example.com",
  "https://example.com",
  "https://example.org",
] as const;
const local = ["http://localhost:4000", "http://127.0.0.1:4000", "http://localhost:5173"];

test.for<[string, Passkeys, string[], string, string[]]>([
  ["the service's own host", true, [app], "app.example.com", [app]],
  ["the service's own host, which serves pages below it", true, [other, app], "example.com", [other, app]],
  ["the service's own host, not the sites that hold no cookie of it", true, [app, elsewhere], "app.example.com", [app]],
  ["the domain that auth.ts names, for all its pages", { rpID: "example.com" }, [api, app], "example.com", [api, app]],
  ["a host of pages that auth.ts names", { rpID: "app.example.com" }, [api, app], "app.example.com", [app]],
  [
    "the host of earlier passkeys, which auth.ts keeps",
    { rpID: "app.example.com" },
    [app, other],
    "app.example.com",
    [app],
  ],
  ["localhost while developing", { rpID: "example.com" }, local, "localhost", [local[0] as string, local[2] as string]],
])("passkeys belong to %s", ([, passkeys, origins, rpID, origin]) => {
  expect(optionsOf(passkeys, origins)).toEqual({ rpID, rpName: rpID, origin });
});

test("a name is shown instead of the host", () => {
  expect(optionsOf({ name: "Desk" }, [app]).rpName).toBe("Desk");
});

test.for<[string, Passkeys, string[], string]>([
  [
    "a page beside the service's host, which could not use them",
    true,
    [api, app],
    'Pages of https://app.example.com could not use the passkeys of api.example.com.\n  Say which host passkeys belong to, for good: passkeys: { rpID: "example.com" } for all of these pages. Passkeys that exist belong to api.example.com: { rpID: "api.example.com" } keeps them.',
  ],
  ["a page above the service's host", true, [app, other], 'passkeys: { rpID: "example.com" }'],
  ["a host that no page has", { rpID: "example.net" }, [app], "no page is on that host or below it"],
  ["a host that only ends alike", { rpID: "ple.com" }, [app], "no page is on that host"],
])("a start is refused with %s", ([, passkeys, origins, message]) => {
  expect(() => optionsOf(passkeys, origins)).toThrow(message);
});

test.for<[unknown, string]>([
  [false, "passkeys: must be true or { rpID?, name? }"],
  [{ rpID: "https://example.com" }, 'must be a host in lower case, such as "example.com"'],
  [{ rpID: "Example.com" }, "must be a host in lower case"],
  [{ rpId: "example.com" }, "rpID"],
  [{ name: "" }, "must be a text"],
])("defineAuth({ passkeys: %j }) is refused", ([passkeys, message]) => {
  expect(() => defineAuth({ passkeys } as never)).toThrow(message);
});

test.for<[Passkeys, BetterAuthPlugin, string]>([
  [undefined, passkey() as BetterAuthPlugin, "write passkeys: true in defineAuth"],
  [undefined, passkey({ rpID: "example.com" }) as BetterAuthPlugin, 'write passkeys: { rpID: "example.com" }'],
  [true, passkey() as BetterAuthPlugin, "Leave the plugin out of the hook"],
  [true, { id: "passkey" }, "Leave the plugin out of the hook"],
])("with the option %j, the plugin in the hook is refused, which would store passkeys without the rules", (row) => {
  const [passkeys, plugin, remedy] = row;
  const further: AuthDefinition = { betterAuth: (defaults) => ({ ...defaults, plugins: [plugin] }) };
  expect(() => optionsOf(passkeys, [app], further)).toThrow(remedy);
});

test("the migration makes the table of the plugin, and none without the option", () => {
  const names = (definition: AuthDefinition) => authTables(definition).map(({ name }) => name);
  expect(names(defineAuth({ passkeys: true }))).toContain("passkey");
  expect(names(defineAuth({}))).not.toContain("passkey");
});
