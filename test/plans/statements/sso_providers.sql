delete from sso_providers
where id = ?

insert into sso_providers (id, resource_id, disabled, created_at, updated_at)
values (?...)

select id
from sso_providers
where id = ?
for update

select sso_providers.id, sso_providers.resource_id, sso_providers.disabled, sso_providers.created_at, sso_providers.updated_at, saml_providers.entity_id, saml_providers.metadata_xml, saml_providers.metadata_url, saml_providers.attribute_mapping, saml_providers.name_id_format, saml_providers.updated_at as metadata_read_at, postern_saml_provider_options.idp_initiated, array((
    select domain
    from sso_domains
    where sso_domains.sso_provider_id = sso_providers.id
    order by domain)) as domains
from sso_providers
inner join saml_providers on saml_providers.sso_provider_id = sso_providers.id
left join postern_saml_provider_options on postern_saml_provider_options.sso_provider_id = sso_providers.id
inner join sso_domains as named on named.sso_provider_id = sso_providers.id
where lower(named.domain) = ?

select sso_providers.id, sso_providers.resource_id, sso_providers.disabled, sso_providers.created_at, sso_providers.updated_at, saml_providers.entity_id, saml_providers.metadata_xml, saml_providers.metadata_url, saml_providers.attribute_mapping, saml_providers.name_id_format, saml_providers.updated_at as metadata_read_at, postern_saml_provider_options.idp_initiated, array((
    select domain
    from sso_domains
    where sso_domains.sso_provider_id = sso_providers.id
    order by domain)) as domains
from sso_providers
inner join saml_providers on saml_providers.sso_provider_id = sso_providers.id
left join postern_saml_provider_options on postern_saml_provider_options.sso_provider_id = sso_providers.id
order by sso_providers.created_at, sso_providers.id

select sso_providers.id, sso_providers.resource_id, sso_providers.disabled, sso_providers.created_at, sso_providers.updated_at, saml_providers.entity_id, saml_providers.metadata_xml, saml_providers.metadata_url, saml_providers.attribute_mapping, saml_providers.name_id_format, saml_providers.updated_at as metadata_read_at, postern_saml_provider_options.idp_initiated, array((
    select domain
    from sso_domains
    where sso_domains.sso_provider_id = sso_providers.id
    order by domain)) as domains
from sso_providers
inner join saml_providers on saml_providers.sso_provider_id = sso_providers.id
left join postern_saml_provider_options on postern_saml_provider_options.sso_provider_id = sso_providers.id
where resource_id = ?

select sso_providers.id, sso_providers.resource_id, sso_providers.disabled, sso_providers.created_at, sso_providers.updated_at, saml_providers.entity_id, saml_providers.metadata_xml, saml_providers.metadata_url, saml_providers.attribute_mapping, saml_providers.name_id_format, saml_providers.updated_at as metadata_read_at, postern_saml_provider_options.idp_initiated, array((
    select domain
    from sso_domains
    where sso_domains.sso_provider_id = sso_providers.id
    order by domain)) as domains
from sso_providers
inner join saml_providers on saml_providers.sso_provider_id = sso_providers.id
left join postern_saml_provider_options on postern_saml_provider_options.sso_provider_id = sso_providers.id
where resource_id = ?
order by sso_providers.created_at, sso_providers.id

select sso_providers.id, sso_providers.resource_id, sso_providers.disabled, sso_providers.created_at, sso_providers.updated_at, saml_providers.entity_id, saml_providers.metadata_xml, saml_providers.metadata_url, saml_providers.attribute_mapping, saml_providers.name_id_format, saml_providers.updated_at as metadata_read_at, postern_saml_provider_options.idp_initiated, array((
    select domain
    from sso_domains
    where sso_domains.sso_provider_id = sso_providers.id
    order by domain)) as domains
from sso_providers
inner join saml_providers on saml_providers.sso_provider_id = sso_providers.id
left join postern_saml_provider_options on postern_saml_provider_options.sso_provider_id = sso_providers.id
where resource_id = ? and starts_with(resource_id, ?)
order by sso_providers.created_at, sso_providers.id

select sso_providers.id, sso_providers.resource_id, sso_providers.disabled, sso_providers.created_at, sso_providers.updated_at, saml_providers.entity_id, saml_providers.metadata_xml, saml_providers.metadata_url, saml_providers.attribute_mapping, saml_providers.name_id_format, saml_providers.updated_at as metadata_read_at, postern_saml_provider_options.idp_initiated, array((
    select domain
    from sso_domains
    where sso_domains.sso_provider_id = sso_providers.id
    order by domain)) as domains
from sso_providers
inner join saml_providers on saml_providers.sso_provider_id = sso_providers.id
left join postern_saml_provider_options on postern_saml_provider_options.sso_provider_id = sso_providers.id
where saml_providers.entity_id = ?

select sso_providers.id, sso_providers.resource_id, sso_providers.disabled, sso_providers.created_at, sso_providers.updated_at, saml_providers.entity_id, saml_providers.metadata_xml, saml_providers.metadata_url, saml_providers.attribute_mapping, saml_providers.name_id_format, saml_providers.updated_at as metadata_read_at, postern_saml_provider_options.idp_initiated, array((
    select domain
    from sso_domains
    where sso_domains.sso_provider_id = sso_providers.id
    order by domain)) as domains
from sso_providers
inner join saml_providers on saml_providers.sso_provider_id = sso_providers.id
left join postern_saml_provider_options on postern_saml_provider_options.sso_provider_id = sso_providers.id
where sso_providers.id = ?

select sso_providers.id, sso_providers.resource_id, sso_providers.disabled, sso_providers.created_at, sso_providers.updated_at, saml_providers.entity_id, saml_providers.metadata_xml, saml_providers.metadata_url, saml_providers.attribute_mapping, saml_providers.name_id_format, saml_providers.updated_at as metadata_read_at, postern_saml_provider_options.idp_initiated, array((
    select domain
    from sso_domains
    where sso_domains.sso_provider_id = sso_providers.id
    order by domain)) as domains
from sso_providers
inner join saml_providers on saml_providers.sso_provider_id = sso_providers.id
left join postern_saml_provider_options on postern_saml_provider_options.sso_provider_id = sso_providers.id
where starts_with(resource_id, ?)
order by sso_providers.created_at, sso_providers.id

update sso_providers
set disabled = ?, updated_at = ?
where id = ?

update sso_providers
set resource_id = ?, updated_at = ?
where id = ?

update sso_providers
set updated_at = ?
where id = ?
