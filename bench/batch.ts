/** 50 creates in one batch, and a create with an idempotency key, against one create, taking turns: one transaction and one request each. */
import { createSetting } from "./lists/setting.ts";
import { ask } from "./lists/sides.ts";
import { alternate } from "./measure.ts";

export async function run(): Promise<void> {
  const setting = await createSetting();
  try {
    const user = await setting.user("user");
    const headers = () => ({ authorization: `Bearer ${user.token}` });
    const side = { process: setting.svc, headers };
    const keyedSide = { ...side, headers: () => ({ ...headers(), "idempotency-key": crypto.randomUUID() }) };
    const create = { name: "items.create", args: { title: "new" } };
    const [one = 0, batch = 0, keyed = 0] = await alternate(
      [
        () => ask(side, user, { path: "/api/mutation", body: create }),
        () => ask(side, user, { path: "/api/batch", body: { calls: Array(50).fill(create) } }),
        () => ask(keyedSide, user, { path: "/api/mutation", body: create }),
      ],
      300,
    );
    const beside = (ms: number) => `${ms.toFixed(2)} ms, ${(ms / one).toFixed(2)}x`;
    console.info(`\nOne create ${one.toFixed(2)} ms. 50 in a batch ${beside(batch)}. With a key ${beside(keyed)}.`);
  } finally {
    await setting.close();
  }
}
