delete from postern_organization_members
where organization_id = ? and user_id = ?

delete from postern_organization_members
where user_id = ?

delete from postern_organization_members
where user_id = ? and joined_by in (?...)
returning *

insert into postern_organization_members (organization_id, user_id, role, connection_id, joined_by, created_at, updated_at)
values (?...)
on conflict (organization_id, user_id) do nothing
returning *

insert into postern_organization_members (organization_id, user_id, role, joined_by, connection_id, created_at, updated_at)
values (?...)
on conflict (organization_id, user_id) do nothing
returning *

select *
from postern_organization_members
where organization_id = ? and user_id = ?

select 1 as one
from postern_organization_members
where role = ?
limit ?

select 1 as one
from postern_organization_members
where role = ? and organization_id = ?
limit ?

select 1 as one
from postern_organization_members
where user_id = ?

select count(*)::int as count
from postern_organization_members
inner join postern_organizations on postern_organizations.id = organization_id
where user_id = ? and postern_organizations.deleted_at is null

select count(*)::int as count
from postern_organization_members
where organization_id = ?

select organization_id
from postern_organization_members
inner join postern_organizations on postern_organizations.id = organization_id
where user_id = ? and role = ? and status = ? and postern_organizations.deleted_at is null
order by organization_id

select postern_organization_members.*, (
  select array_agg(distinct granted.permission) as permissions
  from postern_organization_roles
  inner join unnest(postern_organization_roles.permissions) as granted(permission) on true
  where postern_organization_roles.name = postern_organization_members.role and (postern_organization_roles.organization_id = postern_organization_members.organization_id or postern_organization_roles.organization_id is null)) as role_permissions
from postern_organization_members
inner join postern_organizations on postern_organizations.id = organization_id
where organization_id = ? and user_id = ? and postern_organizations.deleted_at is null

select postern_organization_members.*, users.email, users.phone, users.raw_user_meta_data, (extract(epoch from postern_organization_members.created_at) * 1000000)::float8 as microseconds
from postern_organization_members
inner join users on users.id = user_id
where organization_id = ?
order by postern_organization_members.created_at desc, postern_organization_members.user_id desc
limit ?

select postern_organization_members.*, users.email, users.phone, users.raw_user_meta_data, (extract(epoch from postern_organization_members.created_at) * 1000000)::float8 as microseconds
from postern_organization_members
inner join users on users.id = user_id
where organization_id = ? and (users.email ilike ? or coalesce(users.raw_user_meta_data ->> 'full_name', users.raw_user_meta_data ->> 'name') ilike ?)
order by postern_organization_members.created_at desc, postern_organization_members.user_id desc
limit ?

select postern_organization_members.*, users.email, users.phone, users.raw_user_meta_data, (extract(epoch from postern_organization_members.created_at) * 1000000)::float8 as microseconds
from postern_organization_members
inner join users on users.id = user_id
where organization_id = ? and postern_organization_members.role = ?
order by postern_organization_members.created_at desc, postern_organization_members.user_id desc
limit ?

select postern_organization_members.*, users.email, users.phone, users.raw_user_meta_data, (extract(epoch from postern_organization_members.created_at) * 1000000)::float8 as microseconds
from postern_organization_members
inner join users on users.id = user_id
where organization_id = ? and user_id = ?

select user_id
from postern_organization_members
where organization_id = ? and role = ? and status = ?

update postern_organization_members
set role = ?, updated_at = ?
where organization_id = ? and user_id = ?
returning *

update postern_organization_members
set status = ?, updated_at = ?
where organization_id = ? and user_id = ?
returning *
