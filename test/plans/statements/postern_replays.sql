insert into postern_replays (key, expires_at)
values (?...)
on conflict (key) do nothing

with consumed as (
  insert into postern_replays (key, expires_at)
  values (?...)
  on conflict (key) do nothing
  returning key)
select sso_providers.id, sso_providers.resource_id, sso_providers.disabled, sso_providers.created_at, sso_providers.updated_at, saml_providers.entity_id, saml_providers.metadata_xml, saml_providers.metadata_url, saml_providers.attribute_mapping, saml_providers.name_id_format, saml_providers.updated_at as metadata_read_at, postern_saml_provider_options.idp_initiated, array((
    select domain
    from sso_domains
    where sso_domains.sso_provider_id = sso_providers.id
    order by domain)) as domains, exists (
  select
  from consumed) as is_first
from sso_providers
inner join saml_providers on saml_providers.sso_provider_id = sso_providers.id
left join postern_saml_provider_options on postern_saml_provider_options.sso_provider_id = sso_providers.id
where sso_providers.id = ?
