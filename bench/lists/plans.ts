/** The plans of the statements inside generated functions, by auto_explain: `npm run bench -- lists --plans`. */
import pg from "pg";
import { type Call, viaSql } from "./growth.ts";
import type { Setting } from "./setting.ts";

export async function printPlans(setting: Setting, title: string, call: Call): Promise<void> {
  const client = new pg.Client({ connectionString: setting.cluster.urls.admin });
  await client.connect();
  try {
    await viaSql(client, call); // compiles the function
    await client.query(`
      load 'auto_explain';
      set auto_explain.log_min_duration = 0;
      set auto_explain.log_analyze = on;
      set auto_explain.log_buffers = on;
      set auto_explain.log_timing = off;
      set auto_explain.log_nested_statements = on;
      set auto_explain.log_level = notice`);
    const plans: string[] = [];
    client.on("notice", ({ message = "" }) => plans.push(message));
    await viaSql(client, call);
    console.info(`\n--- ${title}: ${call.prefix}.${call.operation}`);
    for (const plan of plans) if (/items/.test(plan) && !plan.includes("set_config")) console.info(plan);
  } finally {
    await client.end();
  }
}
