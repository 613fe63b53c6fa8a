/**
 * The list of all doors. doors.test.ts, storage.test.ts, workflows.test.ts and pages.test.ts each open those of their
 * part.
 */

import { deliveryDoors, deliveryWrites } from "./delivery-doors.ts";
import { documentDoors, documentWrites } from "./document-doors.ts";
import { compare, type Door, scopesOf, type WritingDoor } from "./door.ts";
import { historyDoors } from "./history-doors.ts";
import { pageDoors, pageWrites } from "./page-doors.ts";
import { platformDoors, workflowWrites } from "./platform-doors.ts";
import { searchDoors } from "./search-doors.ts";
import { type Situation, situations } from "./situations.ts";
import { storageDoors, storageWrites } from "./storage-doors.ts";
import type { World } from "./world.ts";

export const allDoors = (made: World): Door[] => [
  ...searchDoors(made),
  ...documentDoors(made),
  ...storageDoors(made),
  ...platformDoors(made),
  ...pageDoors(made),
  ...historyDoors(made),
  ...deliveryDoors(made),
];

export const writingDoors = (made: World): WritingDoor[] => [
  ...pageWrites(made),
  ...deliveryWrites(made),
  ...storageWrites(made),
  ...documentWrites(made),
  ...workflowWrites(made),
];

const isLong = Number(process.env.FUZZ_RUNS ?? 0) > 0;

/**
 * Opens the door as each caller. In a situation a third of the callers request a scope, and in the next two the others do.
 * `npm run fuzz` has all of them, and so has a door that returned nothing to the first third.
 *
 * @returns the number of returned rows
 */
export async function compareAll({ sql, callers, fewScopes }: World, door: Door, situation: Situation) {
  const scopes = scopesOf(door, fewScopes);
  const pairs = callers.flatMap((caller, number) =>
    scopes.map((scope, place) => ({ caller, scope, at: number + place })),
  );
  const turn = situations.indexOf(situation);
  const isOfThird = ({ at }: { at: number }) => (turn + at) % 3 === 0;
  let given = 0;
  for (const { caller, scope } of pairs.filter(isOfThird)) given += await compare(sql, door, caller, scope);
  if (given > 0 && scopes.length > 1 && !isLong) return given;
  for (const { caller, scope } of pairs.filter((pair) => !isOfThird(pair)))
    given += await compare(sql, door, caller, scope);
  return given;
}
