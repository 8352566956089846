delete from scim_tokens
where sso_provider_id = ?

insert into scim_tokens (id, sso_provider_id, prefix, expires_at, token_hash, created_at, revoked_at, last_used_at)
values (?...)

select id, name, prefix, created_at, expires_at, revoked_at, last_used_at
from scim_tokens
left join postern_scim_tokens on postern_scim_tokens.token_id = scim_tokens.id
where sso_provider_id = ?
order by created_at, id

update scim_tokens
set revoked_at = ?
where id = ? and sso_provider_id = ? and revoked_at is null

with token as (
  select scim_tokens.id, scim_tokens.last_used_at
  from scim_tokens
  where token_hash = ? and sso_provider_id = ? and revoked_at is null and coalesce(expires_at > ?, true)), used as (
  update scim_tokens
  set last_used_at = ?
  from token
  where scim_tokens.id = token.id and coalesce(token.last_used_at < ?, true))
select connection.*, coalesce(sso_providers.disabled, false) or postern_organizations.deleted_at is not null as is_disabled
from (
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
  from postern_scim_connections) as connection
inner join sso_providers on sso_providers.id = connection.sso_provider_id
left join postern_organizations on postern_organizations.id = connection.organization_id
where connection.sso_provider_id = ? and exists (
  select
  from token)
