/** Who is in a channel, as the service tells it. Next hop: `channel-room.ts`. */
import type { ChannelMember } from "./channel-types.ts";
import { decode } from "./wire.ts";

/** The states of members come encoded. */
const readable = (member: ChannelMember): ChannelMember => ({
  ...member,
  state: member.state === null ? null : decode(member.state as never),
});

/** @param set those who came or changed @param gone ids of those who left */
export function changedMembers(
  members: readonly ChannelMember[],
  set: readonly ChannelMember[] = [],
  gone: readonly string[] = [],
): ChannelMember[] {
  const all = new Map(members.map((member) => [member.id, member]));
  for (const member of set) all.set(member.id, readable(member));
  for (const id of gone) all.delete(id);
  return [...all.values()];
}
