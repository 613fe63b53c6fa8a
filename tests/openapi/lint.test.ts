// If this file fails, linters of API descriptions find an error or a new warning in /openapi.json.
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { twoFactor } from "better-auth/plugins";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadConfig } from "../../src/config/load-config.ts";
import { defineAuth } from "../../src/index.ts";
import { openApiDocument } from "../../src/openapi/document.ts";
import { root } from "../support/global-setup.ts";
import { api } from "./application.ts";

/** 80 MB, which no other test needs. */
const linters = ["@redocly/openapi-core@2", "@stoplight/spectral-core@1", "@stoplight/spectral-rulesets@1"];
const config = await loadConfig({ cwd: join(root, "tests/fixture"), env: {} });
const auth = defineAuth({ betterAuth: (defaults) => ({ ...defaults, plugins: [twoFactor()] }) });
const document = openApiDocument({ api, auth }, config, "https://api.example.org");
let folder: string;
// biome-ignore lint/suspicious/noExplicitAny: packages that are not installed where types are checked
const linter = (name: string): any => createRequire(join(folder, "package.json"))(name);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-openapi-lint-"));
  await writeFile(join(folder, "package.json"), "{}");
  const options = ["--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline"];
  await promisify(execFile)("npm", ["install", ...options, ...linters], { cwd: folder });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

interface Finding {
  rule: string;
  isError: boolean;
  message: string;
  at: string;
}

/** @returns the errors, and the rules that warn */
const sorted = (findings: Finding[]) => ({
  errors: findings.filter(({ isError }) => isError).map(({ rule, message, at }) => `${rule} at ${at}: ${message}`),
  warnings: [...new Set(findings.filter(({ isError }) => !isError).map(({ rule }) => rule))].sort(),
});

test("Redocly's recommended rules find no error", async () => {
  const { createConfig, lintFromString } = linter("@redocly/openapi-core");
  const found: { ruleId: string; severity: string; message: string; location: { pointer: string }[] }[] =
    await lintFromString({
      source: JSON.stringify(document),
      config: await createConfig({ extends: ["recommended"] }),
    });
  const findings = found.map(({ ruleId, severity, message, location }) => ({
    rule: ruleId,
    isError: severity === "error",
    message,
    at: location[0]?.pointer ?? "",
  }));
  expect(sorted(findings)).toEqual({
    errors: [],
    warnings: [
      "info-license", // the application's own
      "no-unused-components", // `default` has them: each status says its error codes
      "tag-description", // a tag is the first part of the procedures' names
    ],
  });
});

test("Spectral's rules for OpenAPI find no error", async () => {
  const { Spectral } = linter("@stoplight/spectral-core");
  const { oas } = linter("@stoplight/spectral-rulesets");
  const spectral = new Spectral();
  spectral.setRuleset({ extends: [oas] });
  const found: { code: string; severity: number; message: string; path: string[] }[] = await spectral.run(
    JSON.parse(JSON.stringify(document)),
  );
  const findings = found.map(({ code, severity, message, path }) => ({
    rule: code,
    isError: severity === 0,
    message,
    at: path.join("/"),
  }));
  expect(sorted(findings)).toEqual({
    errors: [],
    warnings: [
      "info-contact", // the application's own
      "oas3-unused-component", // as above
      "operation-description", // where the summary says all
      "operation-success-response", // the socket's is 101
    ],
  });
});
