// If this file fails, variables in .env are missing, or override those that the operator has set; or the secret that svc makes is none.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { readConfig } from "../../src/cli/command.ts";
import { readSecrets } from "../../src/cli/read-secrets.ts";
import { root } from "../support/global-setup.ts";

const names = ["AI_BASE_URL", "AI_API_KEY", "OF_THE_APPLICATION"];
afterEach(() => {
  vi.unstubAllEnvs();
  for (const name of names) delete process.env[name];
});

test("the variables of .env are there, for the application too, and those that are set win", async () => {
  const folder = await mkdtemp(join(root, ".svc/env-"));
  await mkdir(join(folder, "backend"));
  const file = "# a comment\nAI_BASE_URL=http://127.0.0.1:5/v1\nAI_API_KEY=of the file\nOF_THE_APPLICATION='its own'\n";
  await writeFile(join(folder, ".env"), file);
  vi.stubEnv("AI_API_KEY", "of the operator");
  const { ai } = await readConfig(folder);
  expect(ai).toMatchObject({ baseUrl: "http://127.0.0.1:5/v1", apiKey: "of the operator" });
  expect(process.env.OF_THE_APPLICATION).toBe("its own");

  // A folder instead of a file.
  await rm(join(folder, ".env"));
  await mkdir(join(folder, ".env"));
  await expect(readConfig(folder)).rejects.toThrow(`${join(folder, ".env")} could not be read`);
  await rm(folder, { recursive: true });
});

test("the generated secret stays, and one that is empty is refused", async () => {
  const folder = await mkdtemp(join(root, ".svc/env-"));
  await mkdir(join(folder, "backend"));
  vi.stubEnv("AUTHLIB_SECRET", undefined);
  const config = await readConfig(folder);
  const [secret = ""] = await readSecrets(config);
  expect(secret).toMatch(/^[0-9a-f]{64}$/);
  expect(await readSecrets(config)).toEqual([secret]);
  await writeFile(join(folder, ".svc/secret"), "");
  await expect(readSecrets(config)).rejects.toThrow("is empty.\n  Delete it, and start again");

  // Another first start has made the file, and writes it now.
  const waiting = readSecrets(config);
  setTimeout(() => writeFile(join(folder, ".svc/secret"), secret), 100);
  expect(await waiting).toEqual([secret]);
  await rm(folder, { recursive: true });
});
