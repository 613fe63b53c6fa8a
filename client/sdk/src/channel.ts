/**
 * `joinChannel`: messages between those who are in a channel, and who is there. Its code is only in pages that import it.
 * Next hop: `channel-room.ts`.
 */
import { Room } from "./channel-room.ts";
import type { ChannelOptions, ChannelRef, ChannelTypes, JoinedChannel } from "./channel-types.ts";
import { operationKey } from "./key.ts";
import type { Operations } from "./operation.ts";
import type { Connection } from "./realtime/connection.ts";
import type { SvcClient } from "./svc-client.ts";

/**
 * Joins a channel, and joins it again whenever the connection was lost. A client is in each channel once: a second
 * `joinChannel` with the same input shares it, and it is left when all of them have left.
 *
 * @example
 * const room = joinChannel(client, api.rooms.talk, { id });
 * room.on("typing", (_data, from) => showTyping(from?.userId));
 * await room.send("typing", {});
 */
export function joinChannel<T extends ChannelTypes>(
  client: Pick<SvcClient<Operations>, "realtime" | "auth">,
  ref: ChannelRef<T>,
  input: T["input"],
  options: ChannelOptions<T> = {},
): JoinedChannel<T> {
  const connection = client.realtime as Connection;
  const key = operationKey(ref as never, input);
  const rooms = roomsOf.get(connection) ?? new Map<string, Room>();
  roomsOf.set(connection, rooms);
  const ended = () => void rooms.delete(key);
  const room = rooms.get(key) ?? new Room(connection, client, key, options.history, ended);
  rooms.set(key, room);
  return room.handle(options as never) as unknown as JoinedChannel<T>;
}

const roomsOf = new WeakMap<Connection, Map<string, Room>>();
