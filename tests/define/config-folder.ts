/** Writes configurations into separate folders, which are removed after each test. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect } from "vitest";
import { ConfigError, loadConfig } from "../../src/config/load-config.ts";

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

/** Creates a folder with these files. */
export async function app(files: Record<string, string> = {}): Promise<string> {
  const cwd = await mkdtemp(join(tmpdir(), "svc-config-"));
  folders.push(cwd);
  for (const [name, text] of Object.entries(files)) await writeFile(join(cwd, name), text);
  return cwd;
}
/** Loads a `svc.config.ts` with this text. */
export const load = async (config: string, env: Record<string, string> = {}) =>
  loadConfig({ cwd: await app({ "svc.config.ts": `export default ${config};` }), env });
/** The message of the refusal, without the changing folder. */
export async function refusal(config: string, env: Record<string, string> = {}): Promise<string> {
  const error = await load(config, env).then(
    () => expect.fail("the configuration was accepted"),
    (caught: unknown) => caught,
  );
  expect(error).toBeInstanceOf(ConfigError);
  return (error as Error).message.replaceAll(/\S*svc-config-\w+\//g, "");
}

export const secret = "0123456789abcdef0123456789abcdef";
export const older = "fedcba9876543210fedcba9876543210";
