/** What one of the two people sees: the cards that the policies show this person, as they change. */
import type { OutputOf } from "@svc/client";
import { useAuth } from "@svc/react";
import { type FormEvent, useEffect } from "react";
import { useAnnounce } from "../parts/announcer.tsx";
import { Problem } from "../parts/problem.tsx";
import { Skeleton } from "../parts/skeleton.tsx";
import { StatusLight } from "../parts/status-light.tsx";
import type { api } from "../svc/api.ts";
import type { Name } from "./guests.ts";
import { useCards } from "./use-cards.ts";

export type Card = OutputOf<typeof api.cards.list>["data"][number];

interface Props {
  name: Name;
  /** Cards that another person sees and this one does not. */
  hidden: number;
  onCards: (name: Name, cards: Card[]) => void;
}

export function PersonPane({ name, hidden, onCards }: Props) {
  const { user } = useAuth();
  const { list, create, update, remove } = useCards();
  const announce = useAnnounce();
  const title = `pane-${name}`;
  const cards = list.data?.data;
  useEffect(() => {
    if (cards) onCards(name, cards);
  }, [cards, name, onCards]);

  const add = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const text = String(new FormData(form).get("title")).trim();
    create.mutate({ title: text }, { onSuccess: () => form.reset(), onError: announce });
  };

  return (
    <section className="card pane" aria-labelledby={title}>
      <div className="bar">
        <h3 id={title}>{name}</h3>
        <StatusLight />
      </div>
      <form className="new-card" onSubmit={add}>
        <input
          name="title"
          aria-label={`New card of ${name}`}
          placeholder="New card"
          required
          pattern=".*\S.*"
          maxLength={200}
        />
        <button type="submit">Add</button>
      </form>
      <div className="shared-cards">
        {list.isPending && <Skeleton rows={4} />}
        {list.error && !cards && <Problem error={list.error} retry={list.refetch} />}
        <ul className="rows" aria-labelledby={title}>
          {cards?.map((card) => {
            const isOwn = card.userId === user?.id;
            return (
              <li key={card.id} className="shared-card">
                <span>{card.title}</span>
                {isOwn ? (
                  <>
                    <button
                      type="button"
                      className="quiet"
                      aria-label={`${card.isShared ? "Shared" : "Private"}: ${card.title}`}
                      onClick={() => update.mutate({ id: card.id, isShared: !card.isShared }, { onError: announce })}
                    >
                      {card.isShared ? "Shared" : "Private"}
                    </button>
                    <button
                      type="button"
                      className="quiet"
                      aria-label={`Remove: ${card.title}`}
                      onClick={() => remove.mutate({ id: card.id }, { onError: announce })}
                    >
                      Remove
                    </button>
                  </>
                ) : (
                  <small className="soft">of another person</small>
                )}
              </li>
            );
          })}
        </ul>
      </div>
      {hidden > 0 && (
        <p className="soft hidden-cards">
          {hidden === 1 ? "1 card is" : `${hidden} cards are`} hidden from {name} by the policy{" "}
          <code>select_shared_or_own</code>.
        </p>
      )}
    </section>
  );
}
