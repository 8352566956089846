delete from scim_users
where sso_provider_id = ?

insert into scim_users (id, sso_provider_id, user_id, resource, created_at, updated_at, deleted_at)
values (?...)

select 1 as one
from scim_users
where user_id = ? and deleted_at is null

select count(*)::int as count
from scim_users
where sso_provider_id = ? and deleted_at is null and (exists (
    select
    from jsonb_array_elements(
      case jsonb_typeof(scim_users.resource #> ?::text[])
      when 'array' then scim_users.resource #> ?::text[]
      else '[]' end) as elements(element)
    where lower((element #>> ?::text[])) = lower(?::text)) and scim_users.user_name::text = lower(?::text))

select count(*)::int as count
from scim_users
where sso_provider_id = ? and deleted_at is null and (exists (
    select
    from jsonb_array_elements(
      case jsonb_typeof(scim_users.resource #> ?::text[])
      when 'array' then scim_users.resource #> ?::text[]
      else '[]' end) as elements(element)
    where true) and coalesce(scim_users.active::text, 'false') = ?::text)

select count(*)::int as count
from scim_users
where sso_provider_id = ? and deleted_at is null and (scim_users.user_name::text = lower(?::text) and exists (
    select
    from jsonb_array_elements(
      case jsonb_typeof(scim_users.resource #> ?::text[])
      when 'array' then scim_users.resource #> ?::text[]
      else '[]' end) as elements(element)
    where (lower((element #>> ?::text[])) = lower(?::text) and lower((element #>> ?::text[])) = lower(?::text))))

select count(*)::int as count
from scim_users
where sso_provider_id = ? and deleted_at is null and (strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0)

select count(*)::int as count
from scim_users
where sso_provider_id = ? and deleted_at is null and coalesce((scim_users.resource #>> ?::text[])::text, '') not in ('', '[]', '{}')

select count(*)::int as count
from scim_users
where sso_provider_id = ? and deleted_at is null and coalesce(scim_users.active::text, 'false') = ?::text

select count(*)::int as count
from scim_users
where sso_provider_id = ? and deleted_at is null and exists (
  select
  from jsonb_array_elements(
    case jsonb_typeof(scim_users.resource #> ?::text[])
    when 'array' then scim_users.resource #> ?::text[]
    else '[]' end) as elements(element)
  where (lower((element #>> ?::text[])) = lower(?::text) and lower((element #>> ?::text[])) = lower(?::text)))

select count(*)::int as count
from scim_users
where sso_provider_id = ? and deleted_at is null and exists (
  select
  from jsonb_array_elements(
    case jsonb_typeof(scim_users.resource #> ?::text[])
    when 'array' then scim_users.resource #> ?::text[]
    else '[]' end) as elements(element)
  where (lower((element #>> ?::text[])) = lower(?::text) and strpos(lower((element #>> ?::text[])), lower(?::text)) > 0))

select count(*)::int as count
from scim_users
where sso_provider_id = ? and deleted_at is null and exists (
  select
  from jsonb_array_elements(
    case jsonb_typeof(scim_users.resource #> ?::text[])
    when 'array' then scim_users.resource #> ?::text[]
    else '[]' end) as elements(element)
  where right(lower((element #>> ?::text[])), length(lower(?::text))) = lower(?::text))

select count(*)::int as count
from scim_users
where sso_provider_id = ? and deleted_at is null and exists (
  select 1 as one
  from postern_scim_group_members as related
  where related.scim_user_id = scim_users.id and (jsonb_build_object('value', related.group_id) #>> ?::text[]) = ?::text)

select count(*)::int as count
from scim_users
where sso_provider_id = ? and deleted_at is null and exists (
  select 1 as one
  from postern_scim_group_members as related
  where related.scim_user_id = scim_users.id and true)

select count(*)::int as count
from scim_users
where sso_provider_id = ? and deleted_at is null and lower((scim_users.resource #>> ?::text[])) = lower(?::text)

select count(*)::int as count
from scim_users
where sso_provider_id = ? and deleted_at is null and lower((scim_users.resource #>> ?::text[])) is distinct from lower(?::text)

select count(*)::int as count
from scim_users
where sso_provider_id = ? and deleted_at is null and not coalesce(coalesce(scim_users.active::text, 'false') = ?::text, false)

select count(*)::int as count
from scim_users
where sso_provider_id = ? and deleted_at is null and scim_users.created_at > ?::timestamptz

select count(*)::int as count
from scim_users
where sso_provider_id = ? and deleted_at is null and scim_users.external_id::text = ?::text

select count(*)::int as count
from scim_users
where sso_provider_id = ? and deleted_at is null and scim_users.id::text = ?::text

select count(*)::int as count
from scim_users
where sso_provider_id = ? and deleted_at is null and scim_users.updated_at < ?::timestamptz

select count(*)::int as count
from scim_users
where sso_provider_id = ? and deleted_at is null and scim_users.user_name::text = lower(?::text)

select count(*)::int as count
from scim_users
where sso_provider_id = ? and deleted_at is null and starts_with(scim_users.user_name::text, lower(?::text))

select count(*)::int as count
from scim_users
where sso_provider_id = ? and deleted_at is null and strpos(lower((scim_users.resource #>> ?::text[])), lower(?::text)) > 0

select count(*)::int as count
from scim_users
where sso_provider_id = ? and deleted_at is null and true

select id
from scim_users
where sso_provider_id = ? and deleted_at is null and id = any(?::uuid[])
order by id
for key share

select id
from scim_users
where sso_provider_id = ? and user_name = lower(?) and deleted_at is null

select id
from scim_users
where user_id = ? and sso_provider_id = ? and deleted_at is null and active = ?

select id, user_id, deleted_at
from scim_users
where id = ? and sso_provider_id = ?
for no key update

select scim_users.*, exists (
  select own.scim_user_id
  from postern_scim_accounts as own
  where own.scim_user_id = scim_users.id) as owns_account, (
  select coalesce(json_agg(agg), '[]')
  from (
    select of_user.id, of_user.resource ->> 'displayName' as name
    from postern_scim_group_members as member
    inner join postern_scim_groups as of_user on of_user.id = member.group_id
    where member.scim_user_id = scim_users.id
    order by of_user.id) as agg) as groups
from scim_users
where scim_users.id = ? and scim_users.sso_provider_id = ? and scim_users.deleted_at is null

select scim_users.*, exists (
  select own.scim_user_id
  from postern_scim_accounts as own
  where own.scim_user_id = scim_users.id) as owns_account, (
  select coalesce(json_agg(agg), '[]')
  from (
    select of_user.id, of_user.resource ->> 'displayName' as name
    from postern_scim_group_members as member
    inner join postern_scim_groups as of_user on of_user.id = member.group_id
    where member.scim_user_id = scim_users.id
    order by of_user.id) as agg) as groups, scim_users.created_at::text as created_text
from scim_users
where scim_users.sso_provider_id = ? and scim_users.deleted_at is null and (exists (
    select
    from jsonb_array_elements(
      case jsonb_typeof(scim_users.resource #> ?::text[])
      when 'array' then scim_users.resource #> ?::text[]
      else '[]' end) as elements(element)
    where lower((element #>> ?::text[])) = lower(?::text)) and scim_users.user_name::text = lower(?::text)) and true
order by scim_users.created_at, scim_users.id
limit ?
offset ?

select scim_users.*, exists (
  select own.scim_user_id
  from postern_scim_accounts as own
  where own.scim_user_id = scim_users.id) as owns_account, (
  select coalesce(json_agg(agg), '[]')
  from (
    select of_user.id, of_user.resource ->> 'displayName' as name
    from postern_scim_group_members as member
    inner join postern_scim_groups as of_user on of_user.id = member.group_id
    where member.scim_user_id = scim_users.id
    order by of_user.id) as agg) as groups, scim_users.created_at::text as created_text
from scim_users
where scim_users.sso_provider_id = ? and scim_users.deleted_at is null and (exists (
    select
    from jsonb_array_elements(
      case jsonb_typeof(scim_users.resource #> ?::text[])
      when 'array' then scim_users.resource #> ?::text[]
      else '[]' end) as elements(element)
    where true) and coalesce(scim_users.active::text, 'false') = ?::text) and true
order by scim_users.created_at, scim_users.id
limit ?
offset ?

select scim_users.*, exists (
  select own.scim_user_id
  from postern_scim_accounts as own
  where own.scim_user_id = scim_users.id) as owns_account, (
  select coalesce(json_agg(agg), '[]')
  from (
    select of_user.id, of_user.resource ->> 'displayName' as name
    from postern_scim_group_members as member
    inner join postern_scim_groups as of_user on of_user.id = member.group_id
    where member.scim_user_id = scim_users.id
    order by of_user.id) as agg) as groups, scim_users.created_at::text as created_text
from scim_users
where scim_users.sso_provider_id = ? and scim_users.deleted_at is null and (scim_users.user_name::text = lower(?::text) and exists (
    select
    from jsonb_array_elements(
      case jsonb_typeof(scim_users.resource #> ?::text[])
      when 'array' then scim_users.resource #> ?::text[]
      else '[]' end) as elements(element)
    where (lower((element #>> ?::text[])) = lower(?::text) and lower((element #>> ?::text[])) = lower(?::text)))) and true
order by scim_users.created_at, scim_users.id
limit ?
offset ?

select scim_users.*, exists (
  select own.scim_user_id
  from postern_scim_accounts as own
  where own.scim_user_id = scim_users.id) as owns_account, (
  select coalesce(json_agg(agg), '[]')
  from (
    select of_user.id, of_user.resource ->> 'displayName' as name
    from postern_scim_group_members as member
    inner join postern_scim_groups as of_user on of_user.id = member.group_id
    where member.scim_user_id = scim_users.id
    order by of_user.id) as agg) as groups, scim_users.created_at::text as created_text
from scim_users
where scim_users.sso_provider_id = ? and scim_users.deleted_at is null and (strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0 or strpos(scim_users.user_name::text, lower(?::text)) > 0) and true
order by scim_users.created_at, scim_users.id
limit ?
offset ?

select scim_users.*, exists (
  select own.scim_user_id
  from postern_scim_accounts as own
  where own.scim_user_id = scim_users.id) as owns_account, (
  select coalesce(json_agg(agg), '[]')
  from (
    select of_user.id, of_user.resource ->> 'displayName' as name
    from postern_scim_group_members as member
    inner join postern_scim_groups as of_user on of_user.id = member.group_id
    where member.scim_user_id = scim_users.id
    order by of_user.id) as agg) as groups, scim_users.created_at::text as created_text
from scim_users
where scim_users.sso_provider_id = ? and scim_users.deleted_at is null and coalesce((scim_users.resource #>> ?::text[])::text, '') not in ('', '[]', '{}') and true
order by scim_users.created_at, scim_users.id
limit ?
offset ?

select scim_users.*, exists (
  select own.scim_user_id
  from postern_scim_accounts as own
  where own.scim_user_id = scim_users.id) as owns_account, (
  select coalesce(json_agg(agg), '[]')
  from (
    select of_user.id, of_user.resource ->> 'displayName' as name
    from postern_scim_group_members as member
    inner join postern_scim_groups as of_user on of_user.id = member.group_id
    where member.scim_user_id = scim_users.id
    order by of_user.id) as agg) as groups, scim_users.created_at::text as created_text
from scim_users
where scim_users.sso_provider_id = ? and scim_users.deleted_at is null and coalesce(scim_users.active::text, 'false') = ?::text and true
order by scim_users.created_at, scim_users.id
limit ?
offset ?

select scim_users.*, exists (
  select own.scim_user_id
  from postern_scim_accounts as own
  where own.scim_user_id = scim_users.id) as owns_account, (
  select coalesce(json_agg(agg), '[]')
  from (
    select of_user.id, of_user.resource ->> 'displayName' as name
    from postern_scim_group_members as member
    inner join postern_scim_groups as of_user on of_user.id = member.group_id
    where member.scim_user_id = scim_users.id
    order by of_user.id) as agg) as groups, scim_users.created_at::text as created_text
from scim_users
where scim_users.sso_provider_id = ? and scim_users.deleted_at is null and exists (
  select
  from jsonb_array_elements(
    case jsonb_typeof(scim_users.resource #> ?::text[])
    when 'array' then scim_users.resource #> ?::text[]
    else '[]' end) as elements(element)
  where (lower((element #>> ?::text[])) = lower(?::text) and lower((element #>> ?::text[])) = lower(?::text))) and true
order by scim_users.created_at, scim_users.id
limit ?
offset ?

select scim_users.*, exists (
  select own.scim_user_id
  from postern_scim_accounts as own
  where own.scim_user_id = scim_users.id) as owns_account, (
  select coalesce(json_agg(agg), '[]')
  from (
    select of_user.id, of_user.resource ->> 'displayName' as name
    from postern_scim_group_members as member
    inner join postern_scim_groups as of_user on of_user.id = member.group_id
    where member.scim_user_id = scim_users.id
    order by of_user.id) as agg) as groups, scim_users.created_at::text as created_text
from scim_users
where scim_users.sso_provider_id = ? and scim_users.deleted_at is null and exists (
  select
  from jsonb_array_elements(
    case jsonb_typeof(scim_users.resource #> ?::text[])
    when 'array' then scim_users.resource #> ?::text[]
    else '[]' end) as elements(element)
  where (lower((element #>> ?::text[])) = lower(?::text) and strpos(lower((element #>> ?::text[])), lower(?::text)) > 0)) and true
order by scim_users.created_at, scim_users.id
limit ?
offset ?

select scim_users.*, exists (
  select own.scim_user_id
  from postern_scim_accounts as own
  where own.scim_user_id = scim_users.id) as owns_account, (
  select coalesce(json_agg(agg), '[]')
  from (
    select of_user.id, of_user.resource ->> 'displayName' as name
    from postern_scim_group_members as member
    inner join postern_scim_groups as of_user on of_user.id = member.group_id
    where member.scim_user_id = scim_users.id
    order by of_user.id) as agg) as groups, scim_users.created_at::text as created_text
from scim_users
where scim_users.sso_provider_id = ? and scim_users.deleted_at is null and exists (
  select
  from jsonb_array_elements(
    case jsonb_typeof(scim_users.resource #> ?::text[])
    when 'array' then scim_users.resource #> ?::text[]
    else '[]' end) as elements(element)
  where right(lower((element #>> ?::text[])), length(lower(?::text))) = lower(?::text)) and true
order by scim_users.created_at, scim_users.id
limit ?
offset ?

select scim_users.*, exists (
  select own.scim_user_id
  from postern_scim_accounts as own
  where own.scim_user_id = scim_users.id) as owns_account, (
  select coalesce(json_agg(agg), '[]')
  from (
    select of_user.id, of_user.resource ->> 'displayName' as name
    from postern_scim_group_members as member
    inner join postern_scim_groups as of_user on of_user.id = member.group_id
    where member.scim_user_id = scim_users.id
    order by of_user.id) as agg) as groups, scim_users.created_at::text as created_text
from scim_users
where scim_users.sso_provider_id = ? and scim_users.deleted_at is null and exists (
  select 1 as one
  from postern_scim_group_members as related
  where related.scim_user_id = scim_users.id and (jsonb_build_object('value', related.group_id) #>> ?::text[]) = ?::text) and true
order by scim_users.created_at, scim_users.id
limit ?
offset ?

select scim_users.*, exists (
  select own.scim_user_id
  from postern_scim_accounts as own
  where own.scim_user_id = scim_users.id) as owns_account, (
  select coalesce(json_agg(agg), '[]')
  from (
    select of_user.id, of_user.resource ->> 'displayName' as name
    from postern_scim_group_members as member
    inner join postern_scim_groups as of_user on of_user.id = member.group_id
    where member.scim_user_id = scim_users.id
    order by of_user.id) as agg) as groups, scim_users.created_at::text as created_text
from scim_users
where scim_users.sso_provider_id = ? and scim_users.deleted_at is null and exists (
  select 1 as one
  from postern_scim_group_members as related
  where related.scim_user_id = scim_users.id and true) and true
order by scim_users.created_at, scim_users.id
limit ?
offset ?

select scim_users.*, exists (
  select own.scim_user_id
  from postern_scim_accounts as own
  where own.scim_user_id = scim_users.id) as owns_account, (
  select coalesce(json_agg(agg), '[]')
  from (
    select of_user.id, of_user.resource ->> 'displayName' as name
    from postern_scim_group_members as member
    inner join postern_scim_groups as of_user on of_user.id = member.group_id
    where member.scim_user_id = scim_users.id
    order by of_user.id) as agg) as groups, scim_users.created_at::text as created_text
from scim_users
where scim_users.sso_provider_id = ? and scim_users.deleted_at is null and lower((scim_users.resource #>> ?::text[])) = lower(?::text) and true
order by scim_users.created_at, scim_users.id
limit ?
offset ?

select scim_users.*, exists (
  select own.scim_user_id
  from postern_scim_accounts as own
  where own.scim_user_id = scim_users.id) as owns_account, (
  select coalesce(json_agg(agg), '[]')
  from (
    select of_user.id, of_user.resource ->> 'displayName' as name
    from postern_scim_group_members as member
    inner join postern_scim_groups as of_user on of_user.id = member.group_id
    where member.scim_user_id = scim_users.id
    order by of_user.id) as agg) as groups, scim_users.created_at::text as created_text
from scim_users
where scim_users.sso_provider_id = ? and scim_users.deleted_at is null and lower((scim_users.resource #>> ?::text[])) is distinct from lower(?::text) and true
order by scim_users.created_at, scim_users.id
limit ?
offset ?

select scim_users.*, exists (
  select own.scim_user_id
  from postern_scim_accounts as own
  where own.scim_user_id = scim_users.id) as owns_account, (
  select coalesce(json_agg(agg), '[]')
  from (
    select of_user.id, of_user.resource ->> 'displayName' as name
    from postern_scim_group_members as member
    inner join postern_scim_groups as of_user on of_user.id = member.group_id
    where member.scim_user_id = scim_users.id
    order by of_user.id) as agg) as groups, scim_users.created_at::text as created_text
from scim_users
where scim_users.sso_provider_id = ? and scim_users.deleted_at is null and not coalesce(coalesce(scim_users.active::text, 'false') = ?::text, false) and true
order by scim_users.created_at, scim_users.id
limit ?
offset ?

select scim_users.*, exists (
  select own.scim_user_id
  from postern_scim_accounts as own
  where own.scim_user_id = scim_users.id) as owns_account, (
  select coalesce(json_agg(agg), '[]')
  from (
    select of_user.id, of_user.resource ->> 'displayName' as name
    from postern_scim_group_members as member
    inner join postern_scim_groups as of_user on of_user.id = member.group_id
    where member.scim_user_id = scim_users.id
    order by of_user.id) as agg) as groups, scim_users.created_at::text as created_text
from scim_users
where scim_users.sso_provider_id = ? and scim_users.deleted_at is null and scim_users.created_at > ?::timestamptz and true
order by scim_users.created_at, scim_users.id
limit ?
offset ?

select scim_users.*, exists (
  select own.scim_user_id
  from postern_scim_accounts as own
  where own.scim_user_id = scim_users.id) as owns_account, (
  select coalesce(json_agg(agg), '[]')
  from (
    select of_user.id, of_user.resource ->> 'displayName' as name
    from postern_scim_group_members as member
    inner join postern_scim_groups as of_user on of_user.id = member.group_id
    where member.scim_user_id = scim_users.id
    order by of_user.id) as agg) as groups, scim_users.created_at::text as created_text
from scim_users
where scim_users.sso_provider_id = ? and scim_users.deleted_at is null and scim_users.external_id::text = ?::text and true
order by scim_users.created_at, scim_users.id
limit ?
offset ?

select scim_users.*, exists (
  select own.scim_user_id
  from postern_scim_accounts as own
  where own.scim_user_id = scim_users.id) as owns_account, (
  select coalesce(json_agg(agg), '[]')
  from (
    select of_user.id, of_user.resource ->> 'displayName' as name
    from postern_scim_group_members as member
    inner join postern_scim_groups as of_user on of_user.id = member.group_id
    where member.scim_user_id = scim_users.id
    order by of_user.id) as agg) as groups, scim_users.created_at::text as created_text
from scim_users
where scim_users.sso_provider_id = ? and scim_users.deleted_at is null and scim_users.id::text = ?::text and true
order by scim_users.created_at, scim_users.id
limit ?
offset ?

select scim_users.*, exists (
  select own.scim_user_id
  from postern_scim_accounts as own
  where own.scim_user_id = scim_users.id) as owns_account, (
  select coalesce(json_agg(agg), '[]')
  from (
    select of_user.id, of_user.resource ->> 'displayName' as name
    from postern_scim_group_members as member
    inner join postern_scim_groups as of_user on of_user.id = member.group_id
    where member.scim_user_id = scim_users.id
    order by of_user.id) as agg) as groups, scim_users.created_at::text as created_text
from scim_users
where scim_users.sso_provider_id = ? and scim_users.deleted_at is null and scim_users.updated_at < ?::timestamptz and true
order by scim_users.created_at, scim_users.id
limit ?
offset ?

select scim_users.*, exists (
  select own.scim_user_id
  from postern_scim_accounts as own
  where own.scim_user_id = scim_users.id) as owns_account, (
  select coalesce(json_agg(agg), '[]')
  from (
    select of_user.id, of_user.resource ->> 'displayName' as name
    from postern_scim_group_members as member
    inner join postern_scim_groups as of_user on of_user.id = member.group_id
    where member.scim_user_id = scim_users.id
    order by of_user.id) as agg) as groups, scim_users.created_at::text as created_text
from scim_users
where scim_users.sso_provider_id = ? and scim_users.deleted_at is null and scim_users.user_name::text = lower(?::text) and true
order by scim_users.created_at, scim_users.id
limit ?
offset ?

select scim_users.*, exists (
  select own.scim_user_id
  from postern_scim_accounts as own
  where own.scim_user_id = scim_users.id) as owns_account, (
  select coalesce(json_agg(agg), '[]')
  from (
    select of_user.id, of_user.resource ->> 'displayName' as name
    from postern_scim_group_members as member
    inner join postern_scim_groups as of_user on of_user.id = member.group_id
    where member.scim_user_id = scim_users.id
    order by of_user.id) as agg) as groups, scim_users.created_at::text as created_text
from scim_users
where scim_users.sso_provider_id = ? and scim_users.deleted_at is null and starts_with(scim_users.user_name::text, lower(?::text)) and true
order by scim_users.created_at, scim_users.id
limit ?
offset ?

select scim_users.*, exists (
  select own.scim_user_id
  from postern_scim_accounts as own
  where own.scim_user_id = scim_users.id) as owns_account, (
  select coalesce(json_agg(agg), '[]')
  from (
    select of_user.id, of_user.resource ->> 'displayName' as name
    from postern_scim_group_members as member
    inner join postern_scim_groups as of_user on of_user.id = member.group_id
    where member.scim_user_id = scim_users.id
    order by of_user.id) as agg) as groups, scim_users.created_at::text as created_text
from scim_users
where scim_users.sso_provider_id = ? and scim_users.deleted_at is null and strpos(lower((scim_users.resource #>> ?::text[])), lower(?::text)) > 0 and true
order by scim_users.created_at, scim_users.id
limit ?
offset ?

select scim_users.*, exists (
  select own.scim_user_id
  from postern_scim_accounts as own
  where own.scim_user_id = scim_users.id) as owns_account, (
  select coalesce(json_agg(agg), '[]')
  from (
    select of_user.id, of_user.resource ->> 'displayName' as name
    from postern_scim_group_members as member
    inner join postern_scim_groups as of_user on of_user.id = member.group_id
    where member.scim_user_id = scim_users.id
    order by of_user.id) as agg) as groups, scim_users.created_at::text as created_text
from scim_users
where scim_users.sso_provider_id = ? and scim_users.deleted_at is null and true and (scim_users.created_at, scim_users.id) > (?...)
order by scim_users.created_at, scim_users.id
limit ?
offset ?

select scim_users.*, exists (
  select own.scim_user_id
  from postern_scim_accounts as own
  where own.scim_user_id = scim_users.id) as owns_account, (
  select coalesce(json_agg(agg), '[]')
  from (
    select of_user.id, of_user.resource ->> 'displayName' as name
    from postern_scim_group_members as member
    inner join postern_scim_groups as of_user on of_user.id = member.group_id
    where member.scim_user_id = scim_users.id
    order by of_user.id) as agg) as groups, scim_users.created_at::text as created_text
from scim_users
where scim_users.sso_provider_id = ? and scim_users.deleted_at is null and true and true
order by scim_users.created_at, scim_users.id
limit ?
offset ?

select sso_provider_id
from scim_users
where user_id = ? and deleted_at is null

select user_id
from scim_users
where sso_provider_id = ? and id = any(?::uuid[])

update scim_users
set updated_at = greatest(?::timestamptz, updated_at + interval '1 millisecond'), deleted_at = ?
where id = ? and sso_provider_id = ?
returning *

update scim_users
set updated_at = greatest(?::timestamptz, updated_at + interval '1 millisecond'), resource = ?
where id = ? and sso_provider_id = ?
returning *

update scim_users
set updated_at = greatest(?::timestamptz, updated_at + interval '1 millisecond'), resource = ?, user_id = ?, deleted_at = ?
where id = ? and sso_provider_id = ?
returning *

update scim_users
set user_id = ?
where user_id = ?
