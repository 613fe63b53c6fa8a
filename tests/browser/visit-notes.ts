/** The starter's page, as two of its users meet it. */
import { type BrowserContext, chromium, type Page } from "playwright-core";
import { expect } from "vitest";
import { chromiumPath } from "./desk-app.ts";

/** Signs up, sees another window's note at once, and signs out; nothing may be thrown, signed in or not. */
export async function visitNotes(url: string): Promise<void> {
  const browser = await chromium.launch({ executablePath: chromiumPath as string, args: ["--no-sandbox"] });
  try {
    const context = await browser.newContext();
    const complaints: string[] = [];
    context.on("weberror", (error) => complaints.push(String(error.error())));
    // Such as the icon, for which a browser asks by itself.
    context.on("console", (message) => message.text().includes("404") && complaints.push(message.text()));
    let heard = 0;
    context.on("page", (one) =>
      one.on("websocket", (socket) => {
        if (new URL(socket.url()).pathname === "/ws") socket.on("framereceived", () => heard++);
      }),
    );
    const [page, second] = [await open(context, url), await open(context, url)];
    await enter(page, "ann", "Sign in");
    await expect.poll(() => page.getByRole("alert").first().textContent()).toMatch(/\w/);
    await enter(page, "ann", "Sign up");
    await page.getByText("Signed in as ann@example.com.").waitFor();
    await second.reload();
    await second.getByText("Signed in as ann@example.com.").waitFor();
    await second.getByRole("checkbox").waitFor({ state: "detached" });
    await page.getByLabel("New note").fill("milk");
    await page.getByRole("button", { name: "Add" }).click();
    await second.getByLabel("milk").click();
    await expect.poll(() => page.getByLabel("milk").isChecked()).toBe(true);
    await page.getByRole("button", { name: "Clear what is done" }).click();
    await second.getByLabel("milk").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("button", { name: "Sign up" }).waitFor();
    expect(complaints).toEqual([]);
    expect(heard).toBeGreaterThan(0); // not by asking again and again
  } finally {
    await browser.close();
  }
}

async function open(context: BrowserContext, url: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(url);
  await page.getByRole("button", { name: "Sign up" }).waitFor();
  return page;
}

async function enter(page: Page, person: string, button: string): Promise<void> {
  await page.getByLabel("E-mail").fill(`${person}@example.com`);
  await page.getByLabel("Password").fill("correct horse");
  await page.getByRole("button", { name: button }).click();
}
