insert into saml_providers (metadata_url, name_id_format, attribute_mapping, entity_id, metadata_xml, id, sso_provider_id, created_at, updated_at)
values (?...)

insert into saml_providers (metadata_url, name_id_format, entity_id, metadata_xml, id, sso_provider_id, created_at, updated_at)
values (?...)

update saml_providers
set metadata_url = ?, metadata_xml = ?, updated_at = ?
where sso_provider_id = ?

update saml_providers
set metadata_xml = ?, updated_at = ?
where sso_provider_id = ? and metadata_url = ?

update saml_providers
set name_id_format = ?, updated_at = ?
where sso_provider_id = ?
