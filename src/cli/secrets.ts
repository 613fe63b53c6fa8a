/**
 * `svc secrets`: shows which secrets in AUTHLIB_SECRET are still in use, and re-encrypts values of older secrets. Never
 * prints a secret.
 * Next hop: `src/auth/reencrypt.ts`.
 */
import { countEncrypted, reencryptAll } from "../auth/reencrypt.ts";
import { say } from "./command.ts";
import { defineCommand } from "./define.ts";
import { systemCommand } from "./inspect.ts";
import { conclude, during, print } from "./output.ts";
import { readSecrets } from "./read-secrets.ts";
import { table } from "./table.ts";

const status = systemCommand({
  description: "How many stored values each secret encrypts. Exit code 1 while an older one is needed.",
  run: async (pool, _, config) => {
    const { bySecret, lost } = await countEncrypted(pool, await readSecrets(config));
    const rows = bySecret.map((count, at) => [String(at + 1), String(count)]);
    print({ bySecret, lost }, () => table(["secret", "values"], [...rows, ["none of them", String(lost)]]));
    if (bySecret.slice(1).some((count) => count > 0)) {
      say("Run svc secrets reseal before you remove an older secret from AUTHLIB_SECRET.");
      process.exitCode = 1;
    }
    sayLost(lost);
  },
});

const reseal = systemCommand({
  description: "Encrypt values of older secrets again under the first. The service may keep running.",
  run: async (pool, _, config) => {
    const { resealed, lost } = await during("Encrypting", async () => reencryptAll(pool, await readSecrets(config)));
    conclude({ resealed, lost }, resealed === 0 ? "Nothing to do." : `Encrypted ${resealed} values again.`);
    sayLost(lost);
  },
});

export const command = defineCommand({ subCommands: { status, reseal } });

/** Values that no secret opens make the command fail. */
function sayLost(lost: number): void {
  if (lost === 0) return;
  say(`${lost} values were encrypted under a secret that is not in AUTHLIB_SECRET: put it back at the end.`);
  process.exitCode = 1;
}
