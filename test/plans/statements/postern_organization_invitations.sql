delete from postern_organization_invitations
where (invited_by = ? or invited_by_admin = ?)

delete from postern_organization_invitations
where (invited_by = ? or invited_by_admin = ?) and (role = any(?::text[]) or (
    select array_agg(distinct granted.permission) as permissions
    from postern_organization_roles
    inner join unnest(postern_organization_roles.permissions) as granted(permission) on true
    where postern_organization_roles.name = postern_organization_invitations.role and (postern_organization_roles.organization_id = postern_organization_invitations.organization_id or postern_organization_roles.organization_id is null)) && ?::text[])

delete from postern_organization_invitations
where id = ? and expires_at > ?
returning *

delete from postern_organization_invitations
where organization_id = ? and id = ?
returning *

select *
from postern_organization_invitations
where expires_at > ? and id = ? and email = ?

select *
from postern_organization_invitations
where expires_at > ? and token_hash = ?

select *, (extract(epoch from created_at) * 1000000)::float8 as microseconds
from postern_organization_invitations
where organization_id = ? and expires_at > ?
order by created_at desc, id desc
limit ?

select 1 as one
from postern_organization_invitations
where role = ?
limit ?

select 1 as one
from postern_organization_invitations
where role = ? and organization_id = ?
limit ?

select postern_organization_invitations.*, postern_organizations.slug, postern_organizations.name
from postern_organization_invitations
inner join postern_organizations on postern_organizations.id = organization_id
where email = ? and expires_at > ? and postern_organizations.deleted_at is null and postern_organizations.invitation_join = ?
order by postern_organization_invitations.created_at desc
limit ?

with expired as (
  delete from postern_organization_invitations
  where organization_id = ? and email <> ? and expires_at <= ?)
insert into postern_organization_invitations (id, organization_id, email, role, token_hash, invited_by, invited_by_admin, created_at, expires_at)
values (?...)
on conflict (organization_id, email) do update
set id = ?, role = ?, token_hash = ?, invited_by = ?, invited_by_admin = ?, created_at = ?, expires_at = ?
