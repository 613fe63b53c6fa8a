// If this file fails, a misspelt option keeps a session token in localStorage, where the page did not want it.
import { expect, test } from "vitest";
import { createAuthClient } from "../../client/sdk/src/index.ts";

const given = (storage: unknown) => storage as "memory";

test.for(["memroy", "session", "", 1])("refuses an unknown storage, instead of localStorage: %j", (storage) => {
  const refused = /sessionTokenStorage is "local", "memory" or an object/;
  expect(() => createAuthClient("", { sessionTokenStorage: given(storage) })).toThrow(refused);
  const strategy = { kind: "token", sessionTokenStorage: given(storage) } as const;
  expect(() => createAuthClient("", { strategy })).toThrow(refused);
});

test.for([
  [{ sesionTokenStorage: "memory" }, 'createAuthClient has no option "sesionTokenStorage"'],
  [{ kind: "cookie" }, 'createAuthClient has no option "kind"'],
  [{ strategy: { kind: "token", storage: "memory" } }, 'strategy has no option "storage"'],
  [{ authBridge: { path: "/auth" } }, 'authBridge has no option "path"'],
] as const)("refuses an unknown option, instead of its default: %j", ([options, message]) => {
  expect(() => createAuthClient("", options as object)).toThrow(message);
});
