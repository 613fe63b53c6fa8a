-- What Conduit shows. Each view reads as its caller (security_invoker): the policies of the tables decide.

create or replace view public.profile_cards with (security_invoker = true) as
select p.user_id, p.username,
       to_jsonb(p) - 'user_id' || jsonb_build_object('following', exists (
         select from public.follows f where f.followed = p.user_id and f.user_id = svc.current_user_id())) as profile
  from public.profiles p;

create or replace view public.article_cards with (security_invoker = true) as
select a.id, a.slug, a.tag_list, c.username as author, (c.profile ->> 'following')::boolean as following, f.fans,
       jsonb_build_object('slug', a.slug, 'title', a.title, 'description', a.description, 'body', a.body,
         'tagList', a.tag_list, 'createdAt', a.created_at, 'updatedAt', a.updated_at, 'author', c.profile,
         'favorited', f.favorited, 'favoritesCount', cardinality(f.fans)) as article
  from public.articles a
  join public.profile_cards c on c.user_id = a.user_id
 cross join lateral (
   select coalesce(array_agg(p.username), '{}') as fans, coalesce(bool_or(user_id = svc.current_user_id()), false) as favorited
     from public.favorites join public.profiles p using (user_id) where article_id = a.id) f;

create or replace view public.comment_cards with (security_invoker = true) as
select m.id, m.article_id, jsonb_build_object('id', m.id, 'body', m.body, 'createdAt', m.created_at,
         'updatedAt', m.updated_at, 'author', c.profile) as comment
  from public.comments m
  join public.profile_cards c on c.user_id = m.user_id;

grant select on public.profile_cards, public.article_cards, public.comment_cards to svc_anonymous, svc_authenticated;
grant select on public.follows to svc_anonymous; -- the views ask for everyone; no policy shows anonymous callers a row
