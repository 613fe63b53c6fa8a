-- Tables like items for bench/lists.ts, which fills them: of every size, and one whose owners are of every size. They
-- share the sequence of items, whose default is copied.

do $$
declare
  name text;
begin
  foreach name in array array['items_1e3', 'items_1e4', 'items_1e5', 'items_1e7', 'deep_items'] loop
    execute format('create table public.%I (like public.items including all)', name);
    execute format('alter table public.%I enable row level security', name);
    execute format(
      'create policy all_owner on public.%I for all to svc_authenticated
         using (user_id = (select svc.current_user_id()))
         with check (user_id = (select svc.current_user_id()))', name);
    execute format('grant select, insert, update, delete on public.%I to svc_authenticated', name);
  end loop;
end
$$;
