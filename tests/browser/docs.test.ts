// If this file fails, the desk cannot say what svc's documentation says, or its citations do not open.
import { expect, test } from "vitest";
import { database } from "../support/database.ts";
import { barriers, chromiumPath, deskApp, goTo, signUp, whySkipped } from "./desk-app.ts";

if (!chromiumPath) {
  test.skip(`the documentation in a browser: ${whySkipped}`);
} else {
  const app = deskApp(database("template1"));

  test("a statement is looked up in svc's documentation, and its citation opens the passage", async () => {
    const page = await app.page();
    await signUp(page, "Ada");
    await goTo(page, "Docs", "Ask the docs");
    const docs = page.getByRole("region", { name: "Ask the docs" });
    const ask = async (statement: string) => {
      await docs.getByLabel("A statement about svc").fill(statement);
      await docs.getByRole("button", { name: "Look it up" }).click();
    };

    await ask("A password has 8 to 128 characters.");
    await docs.getByText(/^The documentation says/).waitFor();
    await docs
      .getByText(/a password/i)
      .first()
      .waitFor();
    expect(await barriers(page)).toEqual([]);

    await ask("A transaction that rolls back is never told.");
    await docs.getByText("The documentation says so.").waitFor();
    const passage = docs.getByRole("listitem").filter({ hasText: "A transaction that rolls back is never told." });
    await passage.getByText("Realtime › What is told to whom").click();
    await passage.getByText("Several changes of one transaction are told together").waitFor();

    await ask("A transaction that rolls back is always told.");
    await docs.getByText("The documentation does not say so.").waitFor();
  });

  test("who has no account reads what is stored already", async () => {
    const page = await app.page();
    await goTo(page, "Docs", "Ask the docs");
    const docs = page.getByRole("region", { name: "Ask the docs" });
    await docs.getByLabel("A statement about svc").fill("A transaction that rolls back is never told.");
    await docs.getByRole("button", { name: "Look it up" }).click();
    await docs.getByText("The documentation says so.").waitFor();
  });
}
