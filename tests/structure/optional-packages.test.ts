// If this file fails, an application without an optional package is not told which one to install, or how.
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type FeatureName, features, missingPackages } from "../../src/kit/optional-packages.ts";
import { root } from "../support/global-setup.ts";

let app: string;
const core = () => join(app, "node_modules/@svc/core");
const install = async (name: string) => {
  await mkdir(join(app, "node_modules", name), { recursive: true });
  await writeFile(join(app, "node_modules", name, "package.json"), "{}");
};
const dependOn = (version: string) =>
  writeFile(join(app, "package.json"), JSON.stringify({ dependencies: { "@svc/core": version } }));

beforeAll(async () => {
  app = await mkdtemp(join(tmpdir(), "svc-optional-"));
  await mkdir(core(), { recursive: true });
  const peerDependencies = {
    "@aws-sdk/client-s3": "^3.2.1",
    "@aws-sdk/lib-storage": "^3.2.1",
    "@better-auth/passkey": "1.2.4",
    "@modelcontextprotocol/sdk": "^1.2.3",
    "@svc/dev": "0.1.0",
  };
  const dependencies = { "better-auth": "1.2.5", "@better-auth/core": "1.2.5" };
  await writeFile(join(core(), "package.json"), JSON.stringify({ dependencies, peerDependencies }));
  await dependOn("0.1.0");
});
afterAll(() => rm(app, { recursive: true, force: true }));

test("a missing package is named with the command that installs its tested version", () => {
  expect(missingPackages("s3", core())).toEqual({
    message:
      'Storing files in S3 (storage.driver "s3") needs the packages @aws-sdk/client-s3, @aws-sdk/lib-storage, which are not installed.',
    hint: "In the application's folder: npm install @aws-sdk/client-s3@3.2.1 @aws-sdk/lib-storage@3.2.1",
  });
});

test("only the missing one of a feature's packages is named", async () => {
  await install("@aws-sdk/client-s3");
  expect(missingPackages("s3", core())?.message).toContain("needs the package @aws-sdk/lib-storage, which is not");
  await install("@aws-sdk/lib-storage");
  expect(missingPackages("s3", core())).toBeNull();
});

test("a package for development is saved as one", () => {
  expect(missingPackages("mcp", core())?.hint).toMatch(/npm install --save-dev @modelcontextprotocol\/sdk@1\.2\.3$/);
  expect(missingPackages("dev", core())?.hint).toMatch(/npm install --save-dev @svc\/dev@0\.1\.0$/);
});

test("with a plugin of better-auth, npm is told the library's version: it would take a newer one, which the plugin refuses", () => {
  expect(missingPackages("passkeys", core())).toEqual({
    message:
      "Sign-in with passkeys (passkeys of defineAuth) needs the package @better-auth/passkey, which is not installed.",
    hint: "In the application's folder: npm install better-auth@1.2.5 @better-auth/core@1.2.5 @better-auth/passkey@1.2.4",
  });
});

test("svc's own come from where the application has @svc/core's archive from", async () => {
  await dependOn("file:../packages/svc-core-0.1.0.tgz");
  expect(missingPackages("dev", core())?.hint).toMatch(/--save-dev \.\.\/packages\/svc-dev-0\.1\.0\.tgz$/);
});

test.each(Object.keys(features) as FeatureName[])("the repository has what %s needs", (name) => {
  expect(missingPackages(name)).toBeNull();
});

/** Each as `grafast@1`: the version is a beginning of the tested one. */
const versions: Record<string, string> = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).peerDependencies;
const isTested = (word: string) => {
  const at = word.lastIndexOf("@");
  const tested = versions[word.slice(0, at)]?.replace("^", "");
  return tested !== undefined && `${tested}.`.startsWith(`${word.slice(at + 1)}.`);
};
const named = Object.keys(versions).filter((name) => !name.startsWith("@svc/"));
const namesOptional = (word: string) => named.some((name) => word === name || word.startsWith(`${name}@`));

test("the docs name a tested version: npm on an older Node takes an old package otherwise, and refuses it", () => {
  const pages = ["how-to", "reference"].flatMap((folder) =>
    readdirSync(join(root, "docs", folder)).map((name) => readFileSync(join(root, "docs", folder, name), "utf8")),
  );
  const commands = pages.flatMap((text) => text.match(/npm install [^`]+/g) ?? []);
  const table = readFileSync(join(root, "docs/reference/configuration.md"), "utf8").split("## Optional packages")[1];
  const words = [...commands, ...(table?.match(/`[^`]+`/g) ?? [])].flatMap((text) => text.split(/[\s`]+/));
  const found = words.filter(namesOptional);
  expect(new Set(named.filter((name) => !found.some((word) => word.startsWith(`${name}@`))))).toEqual(new Set());
  expect(found.filter((word) => !isTested(word))).toEqual([]);
});
