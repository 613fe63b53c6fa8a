/**
 * What Studio's page may ask for, by name. Also the API that tests use.
 * Next hop: a file for each group of panels; `panel.ts` is what they have in common.
 */
import { z } from "zod";
import { SvcError } from "../kit/svc-error.ts";
import { act } from "./acts.ts";
import { auditPanels } from "./audit-panels.ts";
import { channelsPanel } from "./channels-panel.ts";
import { dataPanels } from "./data-panels.ts";
import { databasePanels } from "./database-panels.ts";
import { devPanels } from "./dev-panels.ts";
import type { Answer } from "./listener.ts";
import { inputOf, type Panel, type PanelOptions, panel, toolsOf } from "./panel.ts";
import { peoplePanels } from "./people-panels.ts";
import { runPanels } from "./run-panel.ts";
import { searchPanels } from "./search-panel.ts";
import { sqlPanel } from "./sql-panel.ts";
import { workPanels } from "./work-panels.ts";

const panels: Readonly<Record<string, Panel>> = {
  status: panel(z.strictObject({}), async (_, tools) => ({
    mayAct: tools.act !== null,
    acts: await tools.ask("select * from svc_private.studio_acts(20)"),
  })),
  ...dataPanels,
  ...auditPanels,
  ...workPanels,
  ...peoplePanels,
  ...databasePanels,
  ...devPanels,
  ...searchPanels,
  ...runPanels,
  channels: channelsPanel,
  sql: sqlPanel,
  act,
};

export function createPanels(options: PanelOptions): Answer {
  const tools = toolsOf(options);
  return (called, input) => {
    const found = Object.hasOwn(panels, called) ? panels[called] : undefined;
    if (!found) throw new SvcError("NOT_FOUND", `Studio has no ${called.slice(0, 100)}.`);
    return found.answer(inputOf(found.input, input), tools);
  };
}
