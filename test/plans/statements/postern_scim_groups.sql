delete from postern_scim_groups
where id = ? and sso_provider_id = ?

insert into postern_scim_groups (id, sso_provider_id, resource, created_at, updated_at)
values (?...)

select count(*)::int as count
from postern_scim_groups
where sso_provider_id = ? and (postern_scim_groups.id::text = ?::text and exists (
    select 1 as one
    from postern_scim_group_members as related
    where related.group_id = postern_scim_groups.id and (jsonb_build_object('value', related.scim_user_id) #>> ?::text[]) = ?::text))

select count(*)::int as count
from postern_scim_groups
where sso_provider_id = ? and exists (
  select 1 as one
  from postern_scim_group_members as related
  where related.group_id = postern_scim_groups.id and (jsonb_build_object('value', related.scim_user_id) #>> ?::text[]) = ?::text)

select count(*)::int as count
from postern_scim_groups
where sso_provider_id = ? and postern_scim_groups.display_name::text = lower(?::text)

select count(*)::int as count
from postern_scim_groups
where sso_provider_id = ? and postern_scim_groups.id::text = ?::text

select count(*)::int as count
from postern_scim_groups
where sso_provider_id = ? and true

select g.id, g.sso_provider_id as connection_id, g.display_name as mapped_name, g.resource ->> 'displayName' as name, g.external_id, r.role, r.priority, g.created_at, g.updated_at
from postern_scim_groups as g
left join postern_scim_role_mappings as r on r.sso_provider_id = g.sso_provider_id and r.group_name = g.display_name
inner join postern_scim_connections as c on c.sso_provider_id = g.sso_provider_id
where c.organization_id = ? and g.id = ?
for update of g

select postern_scim_groups.*
from postern_scim_groups
where id = ? and sso_provider_id = ?

select postern_scim_groups.*
from postern_scim_groups
where id = ? and sso_provider_id = ?
for update

select postern_scim_groups.*, (
  select coalesce(json_agg(agg), '[]')
  from (
    select of_group.id
    from postern_scim_group_members as member
    inner join scim_users as of_group on of_group.id = member.scim_user_id
    where member.group_id = postern_scim_groups.id and of_group.deleted_at is null
    order by of_group.created_at, of_group.id) as agg) as members
from postern_scim_groups
where id = ? and sso_provider_id = ?

select postern_scim_groups.*, (
  select coalesce(json_agg(agg), '[]')
  from (
    select of_group.id
    from postern_scim_group_members as member
    inner join scim_users as of_group on of_group.id = member.scim_user_id
    where member.group_id = postern_scim_groups.id and of_group.deleted_at is null
    order by of_group.created_at, of_group.id) as agg) as members, postern_scim_groups.created_at::text as created_text
from postern_scim_groups
where sso_provider_id = ? and (postern_scim_groups.id::text = ?::text and exists (
    select 1 as one
    from postern_scim_group_members as related
    where related.group_id = postern_scim_groups.id and (jsonb_build_object('value', related.scim_user_id) #>> ?::text[]) = ?::text)) and true
order by created_at, id
limit ?
offset ?

select postern_scim_groups.*, (
  select coalesce(json_agg(agg), '[]')
  from (
    select of_group.id
    from postern_scim_group_members as member
    inner join scim_users as of_group on of_group.id = member.scim_user_id
    where member.group_id = postern_scim_groups.id and of_group.deleted_at is null
    order by of_group.created_at, of_group.id) as agg) as members, postern_scim_groups.created_at::text as created_text
from postern_scim_groups
where sso_provider_id = ? and postern_scim_groups.display_name::text = lower(?::text) and true
order by created_at, id
limit ?
offset ?

select postern_scim_groups.*, (
  select coalesce(json_agg(agg), '[]')
  from (
    select of_group.id
    from postern_scim_group_members as member
    inner join scim_users as of_group on of_group.id = member.scim_user_id
    where member.group_id = postern_scim_groups.id and of_group.deleted_at is null
    order by of_group.created_at, of_group.id) as agg) as members, postern_scim_groups.created_at::text as created_text
from postern_scim_groups
where sso_provider_id = ? and postern_scim_groups.id::text = ?::text and true
order by created_at, id
limit ?
offset ?

select postern_scim_groups.*, (
  select coalesce(json_agg(agg), '[]')
  from (
    select of_group.id
    from postern_scim_group_members as member
    inner join scim_users as of_group on of_group.id = member.scim_user_id
    where member.group_id = postern_scim_groups.id and of_group.deleted_at is null
    order by of_group.created_at, of_group.id) as agg) as members, postern_scim_groups.created_at::text as created_text
from postern_scim_groups
where sso_provider_id = ? and true and true
order by created_at, id
limit ?
offset ?

select postern_scim_groups.*, postern_scim_groups.created_at::text as created_text
from postern_scim_groups
where sso_provider_id = ? and exists (
  select 1 as one
  from postern_scim_group_members as related
  where related.group_id = postern_scim_groups.id and (jsonb_build_object('value', related.scim_user_id) #>> ?::text[]) = ?::text) and true
order by created_at, id
limit ?
offset ?

select postern_scim_groups.*, postern_scim_groups.created_at::text as created_text
from postern_scim_groups
where sso_provider_id = ? and postern_scim_groups.display_name::text = lower(?::text) and true
order by created_at, id
limit ?
offset ?

update postern_scim_groups
set resource = ?, updated_at = greatest(?::timestamptz, updated_at + interval '1 millisecond')
where id = ? and sso_provider_id = ?
