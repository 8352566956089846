delete from postern_scim_role_mappings
where sso_provider_id = ?

delete from postern_scim_role_mappings
where sso_provider_id = ? and group_name = ?

insert into postern_scim_role_mappings (sso_provider_id, group_name, role, priority)
values (?...)

insert into postern_scim_role_mappings (sso_provider_id, group_name, role, priority)
values (?...)
on conflict (sso_provider_id, group_name) do update
set role = ?, priority = ?
returning priority

insert into postern_scim_role_mappings (sso_provider_id, group_name, role, priority)
values (?...), ...

insert into postern_scim_role_mappings (sso_provider_id, group_name, role, priority)
values (?..., (
    select coalesce(max(priority) + 1, 0) as priority
    from postern_scim_role_mappings
    where sso_provider_id = ?))
on conflict (sso_provider_id, group_name) do update
set role = ?
returning priority

select role
from postern_scim_role_mappings
where sso_provider_id = ? and group_name <> ? and priority >= ?::int
union all
select default_role as role
from postern_scim_connections
where sso_provider_id = ?
