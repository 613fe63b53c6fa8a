/** 50 creates in one batch against one create, taking turns: one transaction and one request each. */
import { createSetting } from "./lists/setting.ts";
import { ask } from "./lists/sides.ts";
import { alternate } from "./measure.ts";

export async function run(): Promise<void> {
  const setting = await createSetting();
  try {
    const user = await setting.user("user");
    const side = { process: setting.svc, headers: () => ({ authorization: `Bearer ${user.token}` }) };
    const create = { name: "items.create", args: { title: "new" } };
    const [one = 0, batch = 0] = await alternate(
      [
        () => ask(side, user, { path: "/api/mutation", body: create }),
        () => ask(side, user, { path: "/api/batch", body: { calls: Array(50).fill(create) } }),
      ],
      300,
    );
    console.info(
      `\nOne create ${one.toFixed(2)} ms, 50 in a batch ${batch.toFixed(2)} ms: ${(batch / one).toFixed(2)}x`,
    );
  } finally {
    await setting.close();
  }
}
