delete from postern_scim_group_members
where group_id = ? and scim_user_id = any(?::uuid[])

delete from postern_scim_group_members
where scim_user_id = ?

insert into postern_scim_group_members (group_id, scim_user_id)
select ?::uuid as group_id, unnest(?::uuid[]) as scim_user_id
on conflict do nothing

select m.user_id, m.organization_id, m.role as present, coalesce((
    select r.role
    from postern_scim_group_members as g
    inner join postern_scim_groups as s on s.id = g.group_id
    inner join postern_scim_role_mappings as r on r.sso_provider_id = s.sso_provider_id and r.group_name = s.display_name
    where g.scim_user_id = u.id
    order by r.priority
    limit ?), c.default_role) as role
from scim_users as u
inner join postern_scim_connections as c on c.sso_provider_id = u.sso_provider_id
inner join postern_organization_members as m on m.organization_id = c.organization_id and m.user_id = u.user_id
where u.sso_provider_id = ? and u.deleted_at is null and u.id = any(?::uuid[]) and m.joined_by = ?
order by m.user_id

select o.*, coalesce((
    select r.role
    from postern_scim_group_members as g
    inner join postern_scim_groups as s on s.id = g.group_id
    inner join postern_scim_role_mappings as r on r.sso_provider_id = s.sso_provider_id and r.group_name = s.display_name
    where g.scim_user_id = u.id
    order by r.priority
    limit ?), c.default_role) as role
from scim_users as u
inner join postern_scim_connections as c on c.sso_provider_id = u.sso_provider_id
inner join postern_organizations as o on o.id = c.organization_id
where u.user_id = ? and u.deleted_at is null and u.active = ? and c.enabled = ? and o.scim_join = ? and o.deleted_at is null and not exists (
  select m.user_id
  from postern_organization_members as m
  where m.organization_id = o.id and m.user_id = ?)
order by o.created_at

select scim_user_id
from postern_scim_group_members
where group_id = ?
