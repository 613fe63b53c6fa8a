// If this file fails, the documentation's site cannot be built, does not find what newcomers search for, or cannot be read
// by everybody.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { promisify } from "node:util";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { root } from "../support/global-setup.ts";
import { chromiumPath, whySkipped } from "./desk-app.ts";

const dist = join(root, "site/dist");
const types: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".json": "application/json",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".webp": "image/webp",
  ".txt": "text/plain; charset=utf-8",
};

/** What a newcomer types, with the page that answers. */
const questions: [question: string, page: string][] = [
  ["join", "how-to/query-your-data"],
  ["upsert", "how-to/query-your-data"],
  ["many-to-many", "how-to/query-your-data"],
  ["transaction", "how-to/query-your-data"],
  ["call another API", "how-to/call-another-service"],
  ["send e-mail", "how-to/mail"],
  ["cron", "reference/jobs"],
  ["pagination", "how-to/infinite-lists"],
  ["upload from React", "how-to/uploads"],
  ["Next.js", "how-to/server-rendering"],
  ["roles", "how-to/questions"],
  ["tenants", "how-to/teams"],
  ["tests", "how-to/test-your-application"],
  ["deploy", "how-to/deploy"],
  ["leave", "how-to/leave-svc"],
  ["backup", "how-to/back-up"],
  ["migrations", "how-to/change-the-schema"],
  ["live pages", "how-to/live-pages"],
  ["reset password", "how-to/questions"],
  ["stripe", "how-to/shop"],
  ["docker", "how-to/deploy"],
];

/** Serves the files, as a static host does. */
function serve(): Promise<Server> {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    const file = join(dist, pathname.endsWith("/") ? `${pathname}index.html` : pathname);
    const found = existsSync(file);
    response.writeHead(found ? 200 : 404, { "content-type": types[extname(file)] ?? "application/octet-stream" });
    response.end(found ? await readFile(file) : "");
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

if (!chromiumPath) {
  test.skip(`the site in a browser: ${whySkipped}`);
} else {
  let server: Server;
  let browser: Browser;
  let url: string;
  beforeAll(async () => {
    // The first time it installs the packages of site/.
    await promisify(execFile)(process.execPath, [join(root, "scripts/site.ts")], {
      env: { ...process.env, NODE_ENV: "" },
    });
    server = await serve();
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    browser = await chromium.launch({ executablePath: chromiumPath as string, args: ["--no-sandbox"] });
  }, 600_000);
  afterAll(async () => {
    await browser?.close();
    server?.close();
  });

  /** A page in a context of its own. It fails the test for errors of scripts and for requests to other hosts. */
  async function open(path: string, options: BrowserContextOptions = {}): Promise<Page> {
    const page = await (await browser.newContext(options)).newPage();
    page.on("pageerror", (error) => expect.soft(error.message).toBe(""));
    page.on("request", (request) => expect.soft(request.url()).toMatch(/^(http:\/\/127\.0\.0\.1:|data:)/));
    await page.goto(url + path);
    return page;
  }

  test("the search finds the page of each question among its first three results, without a network", async () => {
    const page = await open("/");
    await page.getByRole("button", { name: "Search" }).first().click();
    const box = page.getByRole("searchbox");
    const first = page.locator("#localsearch-list a.result");
    const missed: string[] = [];
    for (const [question, answer] of questions) {
      await box.fill(question);
      const isThere = async () =>
        (await first.evaluateAll((links) => links.slice(0, 3).map((link) => link.getAttribute("href")))).some((href) =>
          href?.startsWith(`/${answer}.html`),
        );
      await expect
        .poll(isThere)
        .toBe(true)
        .catch(() => missed.push(question));
    }
    expect(missed).toEqual([]);
    // The page comes before sections about its subject on other pages.
    for (const subject of ["passkeys", "passkey", "studio"]) {
      await box.fill(subject);
      await expect.poll(() => first.first().getAttribute("href")).toMatch(new RegExp(`^/how-to/${subject}`));
    }
    await box.fill("conformance");
    await expect.poll(() => first.count()).toBeGreaterThan(0);
    expect(await page.locator('a[href*="conformance"]').count()).toBe(0);
    await page.context().close();
  });

  describe.each(["light", "dark"] as const)("in the %s scheme", (colorScheme) => {
    test.each(["/", "/how-to/query-your-data.html", "/reference/api/core.html"])(
      "axe finds nothing on %s",
      async (path) => {
        const page = await open(path, { colorScheme, reducedMotion: "reduce" });
        await page.getByRole("heading", { level: 1 }).first().waitFor();
        expect(await page.evaluate(() => document.documentElement.classList.contains("dark"))).toBe(
          colorScheme === "dark",
        );
        expect(await violations(page)).toEqual([]);
        await page.context().close();
      },
    );
  });

  test("a phone shows every page without sideways scrolling", async () => {
    const page = await open("/", { viewport: { width: 390, height: 844 } });
    const wide: string[] = [];
    for (const path of [
      "/",
      "/how-to/from-supabase.html",
      "/reference/configuration.html",
      "/reference/api/client.html",
    ]) {
      await page.goto(url + path);
      const excess = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      if (excess > 0) wide.push(`${path}: ${excess}`);
    }
    expect(wide).toEqual([]);
    await page.context().close();
  });

  test("it names the version, documents exports and serves the files to which pages link", async () => {
    const page = await open("/reference/api/core.html");
    await page.getByText(`v${packageJson.version}`).first().waitFor();
    await page.getByRole("heading", { name: /^ownerRls\(\)/ }).waitFor();
    const links = [
      "/source/deploy/compose.yaml.txt",
      "/llms.txt",
      "/llms-full.txt",
      "/SECURITY.html",
      "/adr/README.html",
    ];
    const answers = await Promise.all(links.map(async (path) => (await fetch(url + path)).status));
    expect(answers).toEqual(links.map(() => 200));
    await page.context().close();
  });
}

/** Everything that axe finds, as lines. */
async function violations(page: Page): Promise<string[]> {
  await page.evaluate(await readFile(join(root, "node_modules/axe-core/axe.min.js"), "utf8"));
  return page.evaluate(async () => {
    // biome-ignore lint/suspicious/noExplicitAny: axe adds itself to the page
    const found = (await (globalThis as any).axe.run()).violations;
    return found.flatMap(({ id, nodes }: { id: string; nodes: { html: string }[] }) =>
      nodes.slice(0, 4).map(({ html }) => `${id}: ${html.slice(0, 160)}`),
    );
  });
}
