// If this file fails, a developer whose policy hides a row is left to guess, or a stranger is told about tables.
import { expect, test } from "vitest";
import { database } from "../support/database.ts";
import { apiWith, service } from "../support/service.ts";

const db = database();
const developing = service(db, apiWith());
const serving = service(db, apiWith(), { production: true } as object);

test("a row that is hidden says, while developing, where to ask why", async () => {
  const refused = {
    error: "This row does not exist, or you may not see it.",
    code: "NOT_FOUND",
    requestId: expect.any(String),
  };
  for (const svc of [developing, serving]) {
    const [ann, bob] = [await svc.signUp("ann"), await svc.signUp("bob")];
    const { body: hers } = await svc.mutate(ann, "notes.create", { title: "hers" });
    const hint = `To see why: svc rls explain notes --as ${bob.id} --row ${hers.json.id}`;
    const { body } = await svc.mutate(bob, "notes.update", { id: hers.json.id, title: "his" });
    expect(body).toEqual(svc === serving ? refused : { ...refused, hint });
  }
});
