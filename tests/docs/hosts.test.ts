// If this file fails, a deployment by docs/how-to/deploy-on-a-vps.md or container-hosts.md does not start, or gives away
// its secrets.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { loadConfig } from "../../src/config/load-config.ts";
import { root } from "../support/global-setup.ts";
import { type Snippet, snippets } from "./markdown.ts";

const run = promisify(execFile);
const pages = ["docs/how-to/deploy-on-a-vps.md", "docs/how-to/container-hosts.md"];
const [vps, hosts] = (await Promise.all(
  pages.map(async (page) => (await snippets()).filter(({ place }) => place.startsWith(`${page}:`))),
)) as [Snippet[], Snippet[]];
const variables = (text: string): Record<string, string> =>
  Object.fromEntries([...text.matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name = "", value = ""]) => [name, value]));

test.each([...vps, ...hosts].filter(({ language }) => language === "sh").map(({ place, text }) => [place, text]))(
  "%s is valid for a shell",
  async (_, text) => void (await run("sh", ["-n", "-c", text])),
);

test("the pages call commands and units that exist", async () => {
  const text = [...vps, ...hosts].map((one) => one.text).join("\n");
  const commands = [...text.matchAll(/(?:npx|node_modules\/\.bin\/)\s?svc (\w+)/g)].map(([, name]) => name);
  expect(new Set(commands)).toEqual(new Set(["migrate", "doctor", "start", "worker"]));
  expect(commands.filter((name) => !existsSync(join(root, `src/cli/${name}.ts`)))).toEqual([]);
  const units = [...text.matchAll(/svc-[\w@]+\.(?:service|timer)/g)].map(([name]) => name);
  expect(units.length).toBeGreaterThan(3);
  expect(units.filter((name) => !existsSync(join(root, "deploy/systemd", name)))).toEqual([]);
});

describe("the secrets of the VPS", () => {
  test("are for root alone, start a service in production, and are those of the logins", async () => {
    const folder = await mkdtemp(join(tmpdir(), "svc-vps-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const block = vps.find(({ text }) => text.includes("AUTHLIB_SECRET"))?.text ?? "";
    await run("sh", ["-c", block.replaceAll("/etc/svc", folder)]);

    const [serving, admin, logins] = await Promise.all(
      ["env", "admin.env", "logins.sql"].map(async (name) => {
        expect((await stat(join(folder, name))).mode & 0o077).toBe(0);
        return readFile(join(folder, name), "utf8");
      }),
    );
    const env = variables(serving ?? "");
    expect(env).not.toHaveProperty("DATABASE_ADMIN_URL");
    expect(variables(admin ?? "")).toMatchObject({ ...env, DATABASE_ADMIN_URL: expect.any(String) });
    await expect(loadConfig({ cwd: folder, env })).resolves.toMatchObject({ host: "127.0.0.1", port: 4000 });

    const roles = await readFile(join(root, "sql/roles.sql"), "utf8");
    const urls = Object.entries(variables(admin ?? "")).filter(([name]) => name.startsWith("DATABASE_"));
    expect(urls).toHaveLength(5);
    for (const [name, text = ""] of urls) {
      const { username, password } = new URL(text);
      expect(password).toMatch(/^[0-9a-f]{64}$/);
      expect(logins).toContain(
        `role ${username} ${name === "DATABASE_ADMIN_URL" ? "login superuser " : ""}password '${password}'`,
      );
      if (name !== "DATABASE_ADMIN_URL") expect(roles).toContain(`'${username}'`);
    }
  });
});

test("a second API process gets its own port, and Caddy asks each for a path that svc answers", async () => {
  const folder = await mkdtemp(join(tmpdir(), "svc-vps-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await cp(join(root, "deploy/systemd"), folder, { recursive: true });
  const [line = ""] = vps.flatMap(({ text }) => /^sed .*/m.exec(text) ?? []);
  await run("sh", ["-c", line], { cwd: folder });
  expect(await readFile(join(folder, "svc-api-2.service"), "utf8")).toMatch(/^Environment=PORT=4001 NODE_ENV=/m);
  // Variables of an EnvironmentFile= win over those of Environment=.
  expect(vps.find(({ text }) => text.includes("AUTHLIB_SECRET"))?.text).not.toMatch(/^PORT=/m);
  const caddy = vps.filter(({ text }) => text.includes("reverse_proxy")).map(({ text }) => text);
  expect(caddy.map((text) => /health_uri (\S+)/.exec(text)?.[1])).toEqual([undefined, "/readyz"]);
  expect(await readFile(join(root, "src/server/health.ts"), "utf8")).toContain('"/readyz"');
  // With it, a reload stopped Debian's Caddy for good while a request ran.
  expect(caddy.join()).not.toContain("flush_interval");
});

test("the variables for container hosts are those that a service needs, without the administrator's", async () => {
  const text = hosts.find((one) => one.text.startsWith("NODE_ENV"))?.text ?? "";
  const own = variables(vps.find((one) => one.text.includes("AUTHLIB_SECRET"))?.text ?? "");
  const needed = Object.keys(own).filter((name) => name !== "SVC_HOST");
  expect(Object.keys(variables(text)).filter((name) => !name.startsWith("AWS_"))).toEqual(needed);
});

test("Railway's files parse, and the checked path is one that svc answers", async () => {
  const files = hosts.filter(({ language }) => language === "json").map(({ text }) => JSON.parse(text));
  expect(files.map(({ deploy }) => deploy.startCommand)).toEqual([undefined, "node_modules/.bin/svc worker"]);
  expect(await readFile(join(root, "src/server/health.ts"), "utf8")).toContain(files[0].deploy.healthcheckPath);
});
