delete from postern_scim_connections
where sso_provider_id = ?

insert into postern_scim_connections (sso_provider_id, organization_id, name, default_role, enabled, created_at, updated_at)
values (?...)
on conflict do nothing

select 1 as one
from postern_scim_connections
where (default_role = ? or exists (
    select 1 as one
    from postern_scim_role_mappings as mapping
    where mapping.role = ? and mapping.sso_provider_id = postern_scim_connections.sso_provider_id))
limit ?

select 1 as one
from postern_scim_connections
where (default_role = ? or exists (
    select 1 as one
    from postern_scim_role_mappings as mapping
    where mapping.role = ? and mapping.sso_provider_id = postern_scim_connections.sso_provider_id)) and organization_id = ?
limit ?

select found.*
from postern_scim_connections as c
inner join lateral (
  select g.id, g.sso_provider_id as connection_id, g.display_name as mapped_name, g.resource ->> 'displayName' as name, g.external_id, r.role, r.priority, g.created_at, g.updated_at
  from postern_scim_groups as g
  left join postern_scim_role_mappings as r on r.sso_provider_id = g.sso_provider_id and r.group_name = g.display_name
  where g.sso_provider_id = c.sso_provider_id
  order by g.display_name
  limit ?) as found on true
where c.organization_id = ?

select postern_scim_connections.*, exists (
  select saml_providers.id
  from saml_providers
  where saml_providers.sso_provider_id = postern_scim_connections.sso_provider_id) as has_saml, (
  select coalesce(json_agg(agg), '[]')
  from (
    select mapping.group_name, mapping.role
    from postern_scim_role_mappings as mapping
    where mapping.sso_provider_id = postern_scim_connections.sso_provider_id
    order by mapping.priority) as agg) as role_mapping
from postern_scim_connections
order by created_at, sso_provider_id

select postern_scim_connections.*, exists (
  select saml_providers.id
  from saml_providers
  where saml_providers.sso_provider_id = postern_scim_connections.sso_provider_id) as has_saml, (
  select coalesce(json_agg(agg), '[]')
  from (
    select mapping.group_name, mapping.role
    from postern_scim_role_mappings as mapping
    where mapping.sso_provider_id = postern_scim_connections.sso_provider_id
    order by mapping.priority) as agg) as role_mapping
from postern_scim_connections
where postern_scim_connections.sso_provider_id = ?

update postern_scim_connections
set default_role = ?, updated_at = ?
where sso_provider_id = ?

update postern_scim_connections
set enabled = ?, updated_at = ?
where sso_provider_id = ?

update postern_scim_connections
set name = ?, enabled = ?, updated_at = ?
where sso_provider_id = ?

update postern_scim_connections
set name = ?, updated_at = ?
where sso_provider_id = ?

update postern_scim_connections
set updated_at = ?
where sso_provider_id = ?
