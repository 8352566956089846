delete from postern_organization_connections
where id = ?

insert into postern_organization_connections (id, organization_id, name, sso_provider_id, custom_provider_id, enabled, default_role, role_mapping, created_at, updated_at)
values (?...)

select 1 as one
from postern_organization_connections
where (default_role = ? or role_mapping @> ?::jsonb)
limit ?

select 1 as one
from postern_organization_connections
where (default_role = ? or role_mapping @> ?::jsonb) and organization_id = ?
limit ?

select organization_id
from (
  select organization_id
  from postern_organization_connections
  where sso_provider_id = ?
  union
  select organization_id as organization_id
  from postern_scim_connections
  where sso_provider_id = ? and organization_id is not null) as of_provider

select organization_id
from postern_organization_connections
inner join custom_oauth_providers on custom_oauth_providers.id = custom_provider_id
where identifier = ?

select postern_organization_connections.*, custom_oauth_providers.identifier
from postern_organization_connections
left join custom_oauth_providers on custom_oauth_providers.id = custom_provider_id
where organization_id = ?
order by postern_organization_connections.created_at

select postern_organization_connections.*, custom_oauth_providers.identifier
from postern_organization_connections
left join custom_oauth_providers on custom_oauth_providers.id = custom_provider_id
where organization_id = ? and postern_organization_connections.id = ?

select postern_organization_connections.*, custom_oauth_providers.identifier, postern_organizations.slug, postern_organizations.name as organization_name
from postern_organization_connections
left join custom_oauth_providers on custom_oauth_providers.id = custom_provider_id
inner join postern_organizations on postern_organizations.id = organization_id
where postern_organization_connections.enabled = ? and postern_organizations.sso_join = ? and postern_organizations.deleted_at is null and custom_oauth_providers.identifier = ?

select postern_organization_connections.*, custom_oauth_providers.identifier, postern_organizations.slug, postern_organizations.name as organization_name
from postern_organization_connections
left join custom_oauth_providers on custom_oauth_providers.id = custom_provider_id
inner join postern_organizations on postern_organizations.id = organization_id
where postern_organization_connections.enabled = ? and postern_organizations.sso_join = ? and postern_organizations.deleted_at is null and postern_organization_connections.id = ?

select postern_organization_connections.*, custom_oauth_providers.identifier, postern_organizations.slug, postern_organizations.name as organization_name
from postern_organization_connections
left join custom_oauth_providers on custom_oauth_providers.id = custom_provider_id
inner join postern_organizations on postern_organizations.id = organization_id
where postern_organization_connections.enabled = ? and postern_organizations.sso_join = ? and postern_organizations.deleted_at is null and sso_provider_id = ?::uuid

update postern_organization_connections
set default_role = ?, updated_at = ?
where id = ?

update postern_organization_connections
set enabled = ?, role_mapping = ?, updated_at = ?
where id = ?

update postern_organization_connections
set enabled = ?, updated_at = ?
where id = ?

update postern_organization_connections
set role_mapping = ?, updated_at = ?
where id = ?
