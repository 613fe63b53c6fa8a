/**
 * The tests of the tutorial: each section's commands and edits, and the results that a newcomer sees, also in a
 * browser.
 * Next hop: `tutorial.ts` reads and takes the steps.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { chromiumPath } from "../browser/desk-app.ts";
import type { Database } from "../support/database.ts";
import { Newcomer, readTutorial, type Section } from "./tutorial.ts";

interface Options {
  /** The folder that the tutorial's first commands create. */
  app: () => string;
  /** An unused database. */
  db: Database;
  env: () => NodeJS.ProcessEnv;
}

export function followTutorial({ app, db, env }: Options): void {
  let newcomer: Newcomer;
  let sections: Section[];
  let browser: Browser;
  let context: BrowserContext;
  const section = (title: string) => {
    const found = sections.find((one) => one.title === title);
    if (!found) throw new Error(`The tutorial has no section "${title}" any more.`);
    return found;
  };
  const steps = (title: string) => section(title).steps;
  const take = async (title: string) => {
    for (const step of steps(title)) await newcomer.take(step);
  };
  const signUp = async (person: string, where: BrowserContext) => {
    const page = await where.newPage();
    await page.goto("http://localhost:5173");
    await page.getByLabel("E-mail").fill(`${person}@example.com`);
    await page.getByLabel("Password").fill("correct horse");
    await page.getByRole("button", { name: "Sign up" }).click();
    await page.getByText(`Signed in as ${person}@example.com.`).waitFor();
    return page;
  };
  const addNote = async (page: Page, text: string) => {
    await page.getByLabel("New note").fill(text);
    await page.getByRole("button", { name: "Add" }).click();
    await page.getByText(text).waitFor();
  };

  beforeAll(async () => {
    sections = await readTutorial();
    newcomer = new Newcomer(app(), env());
    browser = await chromium.launch({ executablePath: chromiumPath as string, args: ["--no-sandbox"] });
    context = await browser.newContext();
  });
  afterAll(async () => {
    await newcomer?.killAll();
    await browser?.close();
  });

  test("makes an application whose notes are private", async () => {
    const last = steps("Make it").at(-1);
    expect(last).toEqual({ kind: "run", command: "npm run dev" });
    await newcomer.take(last);
    const page = await signUp("ann", context);
    await addNote(page, "milk");
    const other = await signUp("bob", await browser.newContext());
    await addNote(other, "bread");
    expect(await other.getByText("milk").count()).toBe(0);
    const [, line = ""] = /`(\(t\) => .*?)`/.exec(section("The access rule").text) ?? [];
    expect(await readFile(join(app(), "backend/schema.ts"), "utf8")).toContain(line);
  });

  test("adds a table and operations while it runs", async () => {
    await take("A table of your own");
    const [, migration = ""] = /`(migrations\/\S+)`/.exec(section("A table of your own").text) ?? [];
    const applied = () => db.sql("select to_regclass('public.books')::text as name");
    await expect.poll(applied).toEqual([{ name: "books" }]);
    expect(await readFile(join(app(), migration), "utf8")).toContain("create policy");
    await take("Operations");
    const references = () => readFile(join(app(), "web/svc/api.ts"), "utf8");
    await expect.poll(references).toContain("books.unread");
    await expect.poll(() => newcomer.output).toMatch(/applied sql\/crud\/books\.sql[\s\S]*Ready: /);
  });

  test("shows a live page, and a worker that is killed goes on", async () => {
    await take("A live page");
    const [page, second] = [await context.newPage(), await context.newPage()];
    await Promise.all([page, second].map((one) => one.goto("http://localhost:5173/books.html")));
    await page.getByLabel("Title").fill("Middlemarch");
    await page.getByRole("button", { name: "Add" }).click();
    await second.getByText("Middlemarch").waitFor();

    const [worker, again, ...others] = steps("A worker");
    expect(others).toEqual([]);
    await newcomer.take(worker);
    await page.getByRole("button", { name: "Remind me" }).click();
    const waiting = () => db.sql("select 1 from svc_private.list_jobs(null, null, 9) where name = 'books.remind'");
    await expect.poll(waiting).toHaveLength(1);
    await newcomer.killAll();
    // Skips the wait of ten seconds.
    await db.sql("update graphile_worker._private_jobs set run_at = now() where run_at > now()");
    await newcomer.take(again);
    await Promise.all([page, second].map((one) => one.getByText("Read Middlemarch!").waitFor()));
  });

  test("tests the application", async () => {
    await take("A test");
    expect(newcomer.output).toContain("pass 3");
    await newcomer.take({ kind: "run", command: "npx svc doctor --verbose" });
    expect(newcomer.output).toContain("migrations/ and sql/ are applied");
  });
}
