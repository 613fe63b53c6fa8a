-- 1,000,000 rows of 1,000 owners, written once; new rows of the create benchmark come on top.

create table public.items (
  id serial primary key,
  user_id text not null,
  title text not null,
  done boolean not null default false,
  priority integer not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

insert into public.items (user_id, title, done, priority, created_at)
select 'user' || (n % 1000), 'Item number ' || n, n % 3 = 0, n % 10, now() - n * interval '1 second'
  from generate_series(1, 1000000) as n;

create index items_owner_newest on public.items (user_id, created_at desc, id desc);

alter table public.items enable row level security;

create policy all_owner on public.items for all to svc_authenticated
  using (user_id = (select svc.current_user_id()))
  with check (user_id = (select svc.current_user_id()));

grant select, insert, update, delete on public.items to svc_authenticated;
grant usage on sequence public.items_id_seq to svc_authenticated;

analyze public.items;
