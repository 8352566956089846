delete from postern_saml_provider_options
where sso_provider_id = ?

insert into postern_saml_provider_options (sso_provider_id, idp_initiated)
values (?...)
on conflict (sso_provider_id) do update
set idp_initiated = ?
