/** `useChannel`: a component is in a channel while it is mounted. Next hop: `joinChannel` of @svc/client. */
"use client";

import {
  type ChannelListener,
  type ChannelOptions,
  type ChannelRef,
  type ChannelState,
  type JoinedChannel,
  joinChannel,
  type MessageOf,
  operationKey,
  SvcError,
} from "@svc/client";
import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { useSvcClient } from "./client-context.ts";
import { skip } from "./use-query.ts";

type TypesOf<C extends ChannelRef> = NonNullable<C["~types"]>;
type Heard<C extends ChannelRef> = TypesOf<C>["heard"];

export interface UseChannelOptions<C extends ChannelRef> extends ChannelOptions<TypesOf<C>> {
  /** Called for messages, by their names. */
  on?: { [E in keyof Heard<C>]?: ChannelListener<TypesOf<C>, E> } | undefined;
}

export interface UseChannelResult<C extends ChannelRef>
  extends ChannelState<TypesOf<C>["seen"], MessageOf<TypesOf<C>>> {
  /** As of `joinChannel`. */
  send: JoinedChannel<TypesOf<C>>["send"];
}

/**
 * Joins a channel, and leaves it with the component.
 *
 * @param input of the channel; `skip`: it is not joined
 * @example
 * const { members, send } = useChannel(api.rooms.talk, { id }, { state: { typing }, on: { waved: () => shake() } });
 */
export function useChannel<C extends ChannelRef>(
  ref: C,
  input: TypesOf<C>["input"] | typeof skip,
  options: UseChannelOptions<C> = {},
): UseChannelResult<C> {
  const client = useSvcClient();
  const [room, setRoom] = useState<JoinedChannel<TypesOf<C>> | null>(null);
  const latest = useRef({ input, options });
  useEffect(() => {
    latest.current = { input, options };
  });
  const key = input === skip ? null : operationKey(ref as never, input);
  const { history } = options;
  const events = Object.keys(options.on ?? {}).join(" ");

  useEffect(() => {
    if (key === null) return;
    const { input, options } = latest.current;
    const { state } = options;
    const onMissed = () => latest.current.options.onMissed?.();
    const joined = joinChannel<TypesOf<C>>(client, ref as never, input, { state, history, onMissed });
    setRoom(joined);
    return () => {
      joined.leave();
      setRoom(null);
    };
  }, [client, ref, key, history]);

  useEffect(() => {
    const stops = (room ? events.split(" ").filter(Boolean) : []).map((event) =>
      room?.on(event as never, (...heard) => {
        const on = latest.current.options.on as Listeners | undefined;
        on?.[event]?.(...heard);
      }),
    );
    return () => {
      for (const stop of stops) stop?.();
    };
  }, [room, events]);

  const shown = options.state === undefined ? undefined : operationKey({ name: "", kind: "query" }, options.state);
  const first = useRef<unknown>(null);
  useEffect(() => {
    const { state } = latest.current.options;
    // `joinChannel` has shown what it was given; while the connection is lost, it shows the newest later.
    if (room && shown !== undefined && first.current === room) void room.track(state).catch(() => {});
    first.current = room;
  }, [room, shown]);

  const subscribe = useCallback((changed: () => void) => room?.subscribe(changed) ?? (() => {}), [room]);
  const state = useSyncExternalStore(subscribe, room ? room.getState : joining, joining);
  const send = useCallback<JoinedChannel<TypesOf<C>>["send"]>(
    async (event, data) => {
      if (!room) throw new SvcError("NETWORK_ERROR", "The channel is not joined yet. Try again.");
      return room.send(event, data);
    },
    [room],
  );
  return { ...(state as UseChannelResult<C>), send };
}

type Listeners = Record<string, (...heard: unknown[]) => void>;

const notYet: ChannelState<never, never> = { status: "joining", members: [], messages: [], error: null };
const joining = () => notYet;
