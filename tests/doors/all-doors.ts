/**
 * The list of all doors. doors.test.ts, storage.test.ts, workflows.test.ts and pages.test.ts each open those of their
 * part.
 */
import { documentDoors, documentWrites } from "./document-doors.ts";
import { compare, type Door, scopesOf, type WritingDoor } from "./door.ts";
import { pageDoors, pageWrites } from "./page-doors.ts";
import { platformDoors, workflowWrites } from "./platform-doors.ts";
import { searchDoors } from "./search-doors.ts";
import { storageDoors, storageWrites } from "./storage-doors.ts";
import type { World } from "./world.ts";

export const allDoors = (made: World): Door[] => [
  ...searchDoors(made),
  ...documentDoors(made),
  ...storageDoors(made),
  ...platformDoors(made),
  ...pageDoors(made),
];

export const writingDoors = (made: World): WritingDoor[] => [
  ...pageWrites(made),
  ...storageWrites(made),
  ...documentWrites(made),
  ...workflowWrites(made),
];

/** Opens the door as each caller. @returns the number of returned rows */
export async function compareAll({ sql, callers, fewScopes }: World, door: Door): Promise<number> {
  let given = 0;
  for (const caller of callers) {
    for (const scope of scopesOf(door, fewScopes)) given += await compare(sql, door, caller, scope);
  }
  return given;
}
