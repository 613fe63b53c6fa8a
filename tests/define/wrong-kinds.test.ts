// If this file fails, a value of another kind in a definition is told in the words of a library, or as a failure of svc itself.
import { pgTable, text } from "drizzle-orm/pg-core";
import { expect, test } from "vitest";
import { DefinitionError, defineAuth, memberRls, workflow } from "../../src/index.ts";
import { notes } from "../fixture/backend/schema.ts";
import { api, ask, createCrud } from "./builders.ts";

const auth = (options: object) => () => defineAuth(options);
const flow = (clients: object) => () => workflow("w", { clients, handler: async () => 1 } as never);
const members = pgTable("members", { userId: text("user_id"), teamId: text("team_id") });
const { userId: user, teamId: team } = members;

test.for<[what: string, make: () => unknown, message: string]>([
  [
    "a number for a text",
    auth({ apiKeys: { prefix: 5, scopes: ["*"] } }),
    "apiKeys.prefix: must be a text, got a number",
  ],
  [
    "nothing for a text",
    auth({ social: { apple: { teamId: "TEAM123456" } } }),
    "social.apple.keyId: must be a text, got nothing",
  ],
  ["a number in a list", auth({ schemes: [5] }), "schemes[0]: must be a text, got a number"],
  ["a text for a list", flow({ signal: "approval" }), "clients.signal: must be a list, got a string"],
  ["a text for a boolean", flow({ cancel: "yes" }), "clients.cancel: must be true or false, got a string"],
  [
    "methods that are no list",
    () => createCrud(notes, { methods: "list" as never }),
    "methods: must be a list of operations, got a string",
  ],
  [
    "methods that are null",
    () => createCrud(notes, { methods: null as never }),
    "methods: must be a list of operations, got null",
  ],
  ["no bags", () => api(null as never), "defineApi takes an object, as in { procedures: { … } }, got null."],
  ["a list of bags", () => api([]), "defineApi takes an object, as in { procedures: { … } }, got an array."],
  ["a name that is null", () => ask(null as never), '"null" cannot be the name of a procedure.'],
  [
    "no table of memberships",
    () => memberRls({ through: undefined as never, team, user }),
    "memberRls: through is not a table.",
  ],
  [
    "no column with the team",
    () => memberRls({ through: members, team: undefined as never, user }),
    "memberRls: team is not a column.",
  ],
  [
    "no column with the user",
    () => memberRls({ through: members, team, user: "userId" as never }),
    "memberRls: user is not a column.",
  ],
])("%s is told", ([, make, message]) => {
  expect(make).toThrow(DefinitionError);
  expect(make).toThrow(message);
});
