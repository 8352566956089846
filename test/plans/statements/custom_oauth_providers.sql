delete from custom_oauth_providers
where id = ?

insert into custom_oauth_providers (name, client_id, authorization_url, token_url, userinfo_url, scopes, custom_claims_allowlist, email_optional, attribute_mapping, id, provider_type, identifier, client_secret, cached_discovery, discovery_cached_at, created_at, updated_at)
values (?...)
on conflict (identifier) do nothing
returning *

insert into custom_oauth_providers (name, client_id, authorization_url, token_url, userinfo_url, scopes, email_optional, attribute_mapping, id, provider_type, identifier, client_secret, cached_discovery, discovery_cached_at, created_at, updated_at)
values (?...)
on conflict (identifier) do nothing
returning *

insert into custom_oauth_providers (name, client_id, authorization_url, token_url, userinfo_url, scopes, email_optional, id, provider_type, identifier, client_secret, cached_discovery, discovery_cached_at, created_at, updated_at)
values (?...)
on conflict (identifier) do nothing
returning *

insert into custom_oauth_providers (name, client_id, authorization_url, token_url, userinfo_url, scopes, enabled, id, provider_type, identifier, client_secret, cached_discovery, discovery_cached_at, created_at, updated_at)
values (?...)
on conflict (identifier) do nothing
returning *

insert into custom_oauth_providers (name, client_id, authorization_url, token_url, userinfo_url, scopes, id, provider_type, identifier, client_secret, cached_discovery, discovery_cached_at, created_at, updated_at)
values (?...)
on conflict (identifier) do nothing
returning *

insert into custom_oauth_providers (name, client_id, authorization_url, token_url, userinfo_url, scopes, pkce_enabled, id, provider_type, identifier, client_secret, cached_discovery, discovery_cached_at, created_at, updated_at)
values (?...)
on conflict (identifier) do nothing
returning *

insert into custom_oauth_providers (name, client_id, issuer, acceptable_client_ids, scopes, id, provider_type, identifier, client_secret, cached_discovery, discovery_cached_at, created_at, updated_at)
values (?...)
on conflict (identifier) do nothing
returning *

insert into custom_oauth_providers (name, client_id, issuer, discovery_url, scopes, id, provider_type, identifier, client_secret, cached_discovery, discovery_cached_at, created_at, updated_at)
values (?...)
on conflict (identifier) do nothing
returning *

insert into custom_oauth_providers (name, client_id, issuer, jwks_uri, scopes, id, provider_type, identifier, client_secret, cached_discovery, discovery_cached_at, created_at, updated_at)
values (?...)
on conflict (identifier) do nothing
returning *

insert into custom_oauth_providers (name, client_id, issuer, scopes, authorization_params, id, provider_type, identifier, client_secret, cached_discovery, discovery_cached_at, created_at, updated_at)
values (?...)
on conflict (identifier) do nothing
returning *

insert into custom_oauth_providers (name, client_id, issuer, scopes, custom_claims_allowlist, attribute_mapping, id, provider_type, identifier, client_secret, cached_discovery, discovery_cached_at, created_at, updated_at)
values (?...)
on conflict (identifier) do nothing
returning *

insert into custom_oauth_providers (name, client_id, issuer, scopes, enabled, id, provider_type, identifier, client_secret, cached_discovery, discovery_cached_at, created_at, updated_at)
values (?...)
on conflict (identifier) do nothing
returning *

insert into custom_oauth_providers (name, client_id, issuer, scopes, id, provider_type, identifier, client_secret, cached_discovery, discovery_cached_at, created_at, updated_at)
values (?...)
on conflict (identifier) do nothing
returning *

insert into custom_oauth_providers (name, client_id, issuer, scopes, skip_nonce_check, id, provider_type, identifier, client_secret, cached_discovery, discovery_cached_at, created_at, updated_at)
values (?...)
on conflict (identifier) do nothing
returning *

select count(*)::int as count
from custom_oauth_providers

select custom_oauth_providers.*, coalesce(own_callback, false) as own_callback, id_token_signed_response_alg, (marked_at is not null or connection_id is not null) as organization_bound
from custom_oauth_providers
left join postern_custom_provider_options on provider_id = custom_oauth_providers.id
left join lateral (
  select postern_tenant_providers.created_at as marked_at
  from postern_tenant_providers
  where postern_tenant_providers.identifier = custom_oauth_providers.identifier
  limit 1) as mark on true
left join lateral (
  select postern_organization_connections.id as connection_id
  from postern_organization_connections
  where custom_provider_id = custom_oauth_providers.id
  limit 1) as binding on true
order by created_at, identifier

select custom_oauth_providers.*, coalesce(own_callback, false) as own_callback, id_token_signed_response_alg, (marked_at is not null or connection_id is not null) as organization_bound
from custom_oauth_providers
left join postern_custom_provider_options on provider_id = custom_oauth_providers.id
left join lateral (
  select postern_tenant_providers.created_at as marked_at
  from postern_tenant_providers
  where postern_tenant_providers.identifier = custom_oauth_providers.identifier
  limit 1) as mark on true
left join lateral (
  select postern_organization_connections.id as connection_id
  from postern_organization_connections
  where custom_provider_id = custom_oauth_providers.id
  limit 1) as binding on true
where identifier = ?

select custom_oauth_providers.*, coalesce(own_callback, false) as own_callback, id_token_signed_response_alg, (marked_at is not null or connection_id is not null) as organization_bound
from custom_oauth_providers
left join postern_custom_provider_options on provider_id = custom_oauth_providers.id
left join lateral (
  select postern_tenant_providers.created_at as marked_at
  from postern_tenant_providers
  where postern_tenant_providers.identifier = custom_oauth_providers.identifier
  limit 1) as mark on true
left join lateral (
  select postern_organization_connections.id as connection_id
  from postern_organization_connections
  where custom_provider_id = custom_oauth_providers.id
  limit 1) as binding on true
where identifier = ?
for update of custom_oauth_providers

select custom_oauth_providers.*, coalesce(own_callback, false) as own_callback, id_token_signed_response_alg, (marked_at is not null or connection_id is not null) as organization_bound
from custom_oauth_providers
left join postern_custom_provider_options on provider_id = custom_oauth_providers.id
left join lateral (
  select postern_tenant_providers.created_at as marked_at
  from postern_tenant_providers
  where postern_tenant_providers.identifier = custom_oauth_providers.identifier
  limit 1) as mark on true
left join lateral (
  select postern_organization_connections.id as connection_id
  from postern_organization_connections
  where custom_provider_id = custom_oauth_providers.id
  limit 1) as binding on true
where provider_type = ?
order by created_at, identifier

select custom_oauth_providers.identifier
from postern_organization_connections
inner join custom_oauth_providers on custom_oauth_providers.id = custom_provider_id
where identifier = ?

update custom_oauth_providers
set client_id = ?, updated_at = ?
where id = ?
returning *

update custom_oauth_providers
set client_secret = ?, updated_at = ?
where id = ?
returning *

update custom_oauth_providers
set discovery_url = ?, cached_discovery = ?, discovery_cached_at = ?, updated_at = ?
where id = ?
returning *

update custom_oauth_providers
set enabled = ?, updated_at = ?
where id = ?
returning *

update custom_oauth_providers
set issuer = ?, cached_discovery = ?, discovery_cached_at = ?, updated_at = ?
where id = ?
returning *

update custom_oauth_providers
set name = ?, client_secret = ?, updated_at = ?
where id = ?
returning *

update custom_oauth_providers
set name = ?, scopes = ?, updated_at = ?
where id = ?
returning *

update custom_oauth_providers
set name = ?, updated_at = ?
where id = ?
returning *

update custom_oauth_providers
set skip_nonce_check = ?, updated_at = ?
where id = ?
returning *

update custom_oauth_providers
set updated_at = ?
where id = ?
returning *
