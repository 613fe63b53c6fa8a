import { useMutation, useQuery } from "@svc/react";
import { api } from "../svc/api.ts";

export function useCards() {
  const list = useQuery(api.cards.list, { limit: 20 });
  const create = useMutation(api.cards.create);
  const update = useMutation(api.cards.update);
  const remove = useMutation(api.cards.remove);
  return { list, create, update, remove };
}
