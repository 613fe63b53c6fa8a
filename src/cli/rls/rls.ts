/** `svc rls`: explains row-level security. */
import { defineCommand } from "../define.ts";

export const rlsCommand = defineCommand({
  meta: { name: "rls", description: "Explain row-level security." },
  subCommands: {
    explain: () => import("./explain.ts").then((file) => file.rlsExplain),
  },
});
