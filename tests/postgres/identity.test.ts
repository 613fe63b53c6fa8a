// If this file fails, a user whose id an application or a provider has chosen can act as an administrator who visits, or with a key.
import { expect, test } from "vitest";
import { identityOfUser } from "../../src/postgres/identity.ts";

test.each(["ann\tvisit\tboss", "ann\tkey\t*", "\t"])("the id %j, with a tab, is nobody's", (id) => {
  expect(() => identityOfUser(id)).toThrow(TypeError);
});

test("a key without scopes stays a key", () => {
  expect(identityOfUser("ann", undefined, []).setting).toBe("ann\tkey\t");
});
