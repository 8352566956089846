delete from postern_organizations
where id = ?

insert into postern_organizations (id, name, created_by, slug, metadata, created_at, updated_at)
values (?...)
on conflict (slug) do nothing
returning *

select *
from postern_organizations
where id = ?

select *
from postern_organizations
where id = ?
for no key update

select *, (extract(epoch from postern_organizations.created_at) * 1000000)::float8 as microseconds, (
  select count(*)::int as count
  from postern_organization_members
  where organization_id = postern_organizations.id) as member_count
from postern_organizations
where deleted_at is not null and (lower(postern_organizations.name) like ? or postern_organizations.slug like ?)
order by created_at desc, id desc
limit ?

select *, (extract(epoch from postern_organizations.created_at) * 1000000)::float8 as microseconds, (
  select count(*)::int as count
  from postern_organization_members
  where organization_id = postern_organizations.id) as member_count
from postern_organizations
where deleted_at is null
order by created_at desc, id desc
limit ?

select *, (extract(epoch from postern_organizations.created_at) * 1000000)::float8 as microseconds, (
  select count(*)::int as count
  from postern_organization_members
  where organization_id = postern_organizations.id) as member_count
from postern_organizations
where deleted_at is null and (lower(postern_organizations.name) like ? or postern_organizations.slug like ?)
order by created_at desc, id desc
limit ?

select 1 as one
from postern_organizations
where default_role = ?
limit ?

select 1 as one
from postern_organizations
where default_role = ? and id = ?
limit ?

select postern_organizations.*
from postern_organization_domains
inner join postern_organizations on postern_organizations.id = organization_id
where domain = ? and verified_at is not null and domain_join <> ? and postern_organizations.deleted_at is null and not exists (
  select user_id
  from postern_organization_members
  where organization_id = postern_organizations.id and user_id = ?)

select postern_organizations.*, postern_organization_members.role, postern_organization_members.joined_by, postern_organization_members.created_at as joined_at, active.session_id is not null as is_active, (extract(epoch from postern_organization_members.created_at) * 1000000)::float8 as microseconds, (
  select array_agg(distinct granted.permission) as permissions
  from postern_organization_roles
  inner join unnest(postern_organization_roles.permissions) as granted(permission) on true
  where postern_organization_roles.name = postern_organization_members.role and (postern_organization_roles.organization_id = postern_organizations.id or postern_organization_roles.organization_id is null)) as role_permissions
from postern_organization_members
inner join postern_organizations on postern_organizations.id = organization_id
left join postern_session_organizations as active on active.organization_id = postern_organizations.id and active.session_id = ?
where postern_organization_members.user_id = ? and postern_organization_members.status = ? and postern_organizations.deleted_at is null
order by postern_organization_members.created_at desc, postern_organizations.id desc
limit ?

select postern_organizations.*, postern_organization_members.role, postern_organization_members.joined_by, postern_organization_members.created_at as joined_at, active.session_id is not null as is_active, (extract(epoch from postern_organization_members.created_at) * 1000000)::float8 as microseconds, (
  select array_agg(distinct granted.permission) as permissions
  from postern_organization_roles
  inner join unnest(postern_organization_roles.permissions) as granted(permission) on true
  where postern_organization_roles.name = postern_organization_members.role and (postern_organization_roles.organization_id = postern_organizations.id or postern_organization_roles.organization_id is null)) as role_permissions
from postern_organization_members
inner join postern_organizations on postern_organizations.id = organization_id
left join postern_session_organizations as active on active.organization_id = postern_organizations.id and active.session_id = ?
where postern_organization_members.user_id = ? and postern_organization_members.status = ? and postern_organizations.deleted_at is null and (lower(postern_organizations.name) like ? or postern_organizations.slug like ?)
order by postern_organization_members.created_at desc, postern_organizations.id desc
limit ?

select postern_organizations.*, postern_organization_members.role, postern_organization_members.joined_by, postern_organization_members.created_at as joined_at, active.session_id is not null as is_active, (extract(epoch from postern_organization_members.created_at) * 1000000)::float8 as microseconds, (
  select array_agg(distinct granted.permission) as permissions
  from postern_organization_roles
  inner join unnest(postern_organization_roles.permissions) as granted(permission) on true
  where postern_organization_roles.name = postern_organization_members.role and (postern_organization_roles.organization_id = postern_organizations.id or postern_organization_roles.organization_id is null)) as role_permissions
from postern_organization_members
inner join postern_organizations on postern_organizations.id = organization_id
left join postern_session_organizations as active on active.organization_id = postern_organizations.id and active.session_id = ?
where postern_organization_members.user_id = ? and postern_organization_members.status = ? and postern_organizations.deleted_at is null and (postern_organization_members.created_at, postern_organizations.id) < ('epoch'::timestamptz + ?::float8 * interval '1 microsecond', ?::uuid)
order by postern_organization_members.created_at desc, postern_organizations.id desc
limit ?

update postern_organizations
set default_role = ?, domain_join = ?, updated_at = ?
where id = ?
returning *

update postern_organizations
set default_role = ?, updated_at = ?
where id = ?
returning *

update postern_organizations
set deleted_at = ?, updated_at = ?
where id = ?

update postern_organizations
set domain_join = ?, updated_at = ?
where id = ?
returning *

update postern_organizations
set invitation_join = ?, domain_join = ?, sso_join = ?, scim_join = ?, updated_at = ?
where id = ?
returning *

update postern_organizations
set invitation_join = ?, updated_at = ?
where id = ?
returning *

update postern_organizations
set name = ?, domain_join = ?, metadata = ?, updated_at = ?
where id = ?
returning *

update postern_organizations
set name = ?, metadata = ?, updated_at = ?
where id = ?
returning *

update postern_organizations
set name = ?, updated_at = ?
where id = ?
returning *

update postern_organizations
set sso_join = ?, updated_at = ?
where id = ?
returning *

update postern_organizations
set updated_at = ?
where id = ?
returning *
