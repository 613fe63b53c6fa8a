-- Articles with their authors, tags and comments (bench/related.ts). Everybody reads them, their owner changes them.

create table authors (id serial primary key, user_id text not null, name text not null);
create table articles (
  id serial primary key,
  user_id text not null,
  author_id integer references authors,
  title text not null,
  body text not null,
  created_at timestamptz not null default now()
);
create index on articles (created_at desc, id desc);
create table tags (id serial primary key, name text not null);
create table article_tags (
  article_id integer references articles,
  tag_id integer references tags,
  primary key (article_id, tag_id)
);
create table comments (
  id serial primary key,
  user_id text not null,
  article_id integer references articles,
  body text not null
);
create index on comments (article_id, id desc);

do $$
declare
  name text;
begin
  foreach name in array '{authors,articles,tags,article_tags,comments}'::text[] loop
    execute format('alter table %I enable row level security', name);
    execute format('create policy select_anyone on %I for select to svc_anonymous, svc_authenticated using (true)', name);
    execute format('grant select on %I to svc_anonymous, svc_authenticated', name);
  end loop;
end $$;
