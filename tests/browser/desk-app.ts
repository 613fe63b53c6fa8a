/**
 * The desk example as its users see it: the built page, served by the service on a separate database, in Debian's
 * Chromium.
 * Next hop: `desk.test.ts`.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { loadApp } from "../../src/app/load-app.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { migrate } from "../../src/migrate/migrate.ts";
import { type Service, startService } from "../../src/service/service.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { startWorker, type Worker } from "../../workers/runner.ts";
import type { Database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";
import { raisedLimits } from "../support/limits.ts";
import { withQuickPasswords } from "../support/quick-passwords.ts";
import { secret } from "../support/service.ts";

export const desk = join(root, "examples/desk");
const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

/** The path of Chromium, or undefined. It is too large for `scripts/setup` to install. */
export const chromiumPath = [process.env.CHROMIUM, "/usr/bin/chromium"].find((path) => path && existsSync(path));
export const whySkipped =
  "no Chromium: `apt-get install chromium`, or name one with CHROMIUM=/path (scripts/setup leaves it out: 400 MB)";

/** Software that imitates a GPU takes a sixth of the processor time. */
const withoutGpu = ["--disable-gpu", "--in-process-gpu"];

let opened: Browser | undefined;
/** One for the test files of a worker, because a start takes three seconds of processor time. It ends with the worker. */
export async function openBrowser(): Promise<Browser> {
  if (!opened?.isConnected())
    opened = await chromium.launch({ executablePath: chromiumPath as string, args: ["--no-sandbox", ...withoutGpu] });
  return opened;
}

export class DeskApp {
  readonly #db: Database;
  #service: Service | undefined;
  #worker: Worker | undefined;
  #browser: Browser | undefined;
  #port = 0;
  #contexts: BrowserContext[] = [];
  /** Errors on pages: of scripts, and refusals by the Content-Security-Policy. */
  complaints: string[] = [];

  constructor(db: Database) {
    this.#db = db;
  }

  get url(): string {
    return `http://localhost:${this.#port}`;
  }

  async open(): Promise<void> {
    // Without vitest's NODE_ENV, which would select React's development build.
    const env = { ...process.env, NODE_ENV: "production" };
    await promisify(execFile)(process.execPath, [join(desk, "build.ts")], { env });
    await migrate({ adminUrl: this.#db.url("admin"), platform: root, application: desk });
    await this.startService();
    this.#browser = await openBrowser();
  }

  async close(): Promise<void> {
    await this.#worker?.stop();
    await this.stopService();
  }

  /** For workflows and jobs. */
  async startWorker(): Promise<void> {
    const config = await loadConfig({ cwd: desk, env: {} });
    const app = await loadApp(config);
    this.#worker = startWorker({ app, config, urls: this.#db.urls, secrets: [secret], log: createLog("silent") });
    await this.#worker.ready;
  }

  /** A restart uses the same port, as after a deployment. */
  async startService(): Promise<void> {
    const loaded = await loadConfig({ cwd: desk, env: {} });
    const config = { ...loaded, port: this.#port, limits: { ...loaded.limits, ...raisedLimits } };
    const log = createLog("silent");
    const loadedApp = await loadApp(config);
    const app = { ...loadedApp, auth: withQuickPasswords(loadedApp.auth) };
    this.#service = await startService({ app, config, urls: this.#db.urls, secrets: [secret], log });
    this.#port = Number(new URL(this.#service.url).port);
  }

  async stopService(): Promise<void> {
    await this.#service?.stop();
    this.#service = undefined;
  }

  /** A separate browser context: nothing is shared. @param section that the address names. (Default: tasks) */
  async page(options: BrowserContextOptions = {}, section = "tasks"): Promise<Page> {
    if (!this.#browser) throw new Error("The browser has not been started.");
    const context = await this.#browser.newContext({ locale: "en-GB", ...options });
    this.#contexts.push(context);
    const page = await context.newPage();
    page.on("pageerror", (error) => this.complaints.push(error.message));
    page.on("console", (message) => {
      if (/Content Security Policy/i.test(message.text())) this.complaints.push(message.text());
    });
    await page.goto(`${this.url}/#/${section}`);
    return page;
  }

  async closePages(): Promise<void> {
    await Promise.all(this.#contexts.splice(0).map((context) => context.close()));
  }
}

/** Starts all of it for a test file. Call it after `database()`. */
export function deskApp(db: Database): DeskApp {
  const app = new DeskApp(db);
  beforeAll(() => app.open());
  afterEach(async () => {
    await app.closePages();
    expect(app.complaints.splice(0)).toEqual([]);
  });
  afterAll(() => app.close());
  return app;
}

const password = "correct horse";

/** Creates an account with the page's form. @returns its e-mail address */
export async function signUp(page: Page, name: string): Promise<string> {
  const email = `${name}-${crypto.randomUUID().slice(0, 8)}@example.com`.toLowerCase();
  await page.getByRole("button", { name: "Create an account" }).click();
  await page.getByLabel("Name").fill(name);
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Create account" }).click();
  await live(page);
  return email;
}

export async function signIn(page: Page, email: string, given = password): Promise<void> {
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password").fill(given);
  await page.locator("form").getByRole("button", { name: "Sign in" }).click();
}

/** Goes to a section by its link, and waits for its heading. */
export async function goTo(page: Page, section: string, heading = section): Promise<void> {
  await page.getByRole("navigation", { name: "Sections" }).getByRole("link", { name: section }).click();
  await page.getByRole("heading", { name: heading, level: 2 }).waitFor();
}

/** Waits until my tasks are shown and changes arrive. */
export async function live(page: Page): Promise<void> {
  await page.getByRole("heading", { name: "My tasks" }).waitFor();
  await page.locator('.light[data-status="live"]').waitFor();
}

export async function add(page: Page, title: string): Promise<void> {
  await page.getByLabel("New task", { exact: true }).fill(title);
  await page.keyboard.press("Enter");
  await task(page, title).locator("input:enabled").waitFor();
}

/** The row of a task. */
export const task = (page: Page, title: string) => page.locator(".task", { hasText: title });

/** The shown titles, from the top. */
export const titles = (page: Page) => page.locator(".task .tick span").allTextContents();

/** Accessibility violations found by axe, as lines. @param only the rules to apply. (Default: all) */
export async function barriers(page: Page, only?: string[]): Promise<string[]> {
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(await readFile(axe, "utf8"));
  return page.evaluate(async (runOnly) => {
    // biome-ignore lint/suspicious/noExplicitAny: axe adds itself to the page
    const { violations } = await (globalThis as any).axe.run(runOnly ? { runOnly } : {});
    return violations
      .filter(({ impact }: { impact: string }) => impact === "serious" || impact === "critical")
      .map(({ id, nodes }: { id: string; nodes: { html: string }[] }) => `${id}: ${nodes[0]?.html}`);
  }, only);
}
