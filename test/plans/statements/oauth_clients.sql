select client_name
from oauth_clients
where registration_type = ? and deleted_at is null and client_name is not null

select count(*) as total
from oauth_clients
where deleted_at is null

select id
from oauth_clients
where id = ? and deleted_at is null
for no key update

select oauth_clients.id, oauth_clients.client_name, oauth_clients.client_uri, oauth_clients.logo_uri, details.document_url, oauth_consents.scopes, oauth_consents.granted_at
from oauth_consents
inner join oauth_clients on oauth_clients.id = oauth_consents.client_id
left join postern_oauth_clients as details on details.client_id = oauth_clients.id
where oauth_consents.user_id = ? and oauth_consents.revoked_at is null and oauth_clients.deleted_at is null
order by oauth_consents.granted_at desc

select oauth_clients.id, oauth_clients.client_secret_hash, oauth_clients.registration_type, oauth_clients.redirect_uris, oauth_clients.grant_types, oauth_clients.client_name, oauth_clients.client_uri, oauth_clients.logo_uri, oauth_clients.created_at, oauth_clients.updated_at, oauth_clients.client_type, oauth_clients.token_endpoint_auth_method, details.settings, details.document_url, details.document_expires_at, details.reconsent_after, details.registration_token_hash
from oauth_clients
left join postern_oauth_clients as details on details.client_id = oauth_clients.id
where oauth_clients.deleted_at is null
order by oauth_clients.created_at desc, oauth_clients.id
limit ?
offset ?

select oauth_clients.id, oauth_clients.client_secret_hash, oauth_clients.registration_type, oauth_clients.redirect_uris, oauth_clients.grant_types, oauth_clients.client_name, oauth_clients.client_uri, oauth_clients.logo_uri, oauth_clients.created_at, oauth_clients.updated_at, oauth_clients.client_type, oauth_clients.token_endpoint_auth_method, details.settings, details.document_url, details.document_expires_at, details.reconsent_after, details.registration_token_hash
from oauth_clients
left join postern_oauth_clients as details on details.client_id = oauth_clients.id
where oauth_clients.deleted_at is null and details.document_url = ?

select oauth_clients.id, oauth_clients.client_secret_hash, oauth_clients.registration_type, oauth_clients.redirect_uris, oauth_clients.grant_types, oauth_clients.client_name, oauth_clients.client_uri, oauth_clients.logo_uri, oauth_clients.created_at, oauth_clients.updated_at, oauth_clients.client_type, oauth_clients.token_endpoint_auth_method, details.settings, details.document_url, details.document_expires_at, details.reconsent_after, details.registration_token_hash
from oauth_clients
left join postern_oauth_clients as details on details.client_id = oauth_clients.id
where oauth_clients.deleted_at is null and details.metadata_hash = ?

select oauth_clients.id, oauth_clients.client_secret_hash, oauth_clients.registration_type, oauth_clients.redirect_uris, oauth_clients.grant_types, oauth_clients.client_name, oauth_clients.client_uri, oauth_clients.logo_uri, oauth_clients.created_at, oauth_clients.updated_at, oauth_clients.client_type, oauth_clients.token_endpoint_auth_method, details.settings, details.document_url, details.document_expires_at, details.reconsent_after, details.registration_token_hash
from oauth_clients
left join postern_oauth_clients as details on details.client_id = oauth_clients.id
where oauth_clients.deleted_at is null and oauth_clients.id = ?

update oauth_clients
set client_secret_hash = ?, updated_at = ?
where id = ?

update oauth_clients
set deleted_at = ?
where id = ?

with before as (
  select client_name, redirect_uris
  from oauth_clients
  where id = ?), client as (
  insert into oauth_clients (redirect_uris, grant_types, client_name, client_uri, logo_uri, token_endpoint_auth_method, id, client_type, client_secret_hash, registration_type, created_at, updated_at, deleted_at)
  values (?...)
  on conflict (id) do update
  set redirect_uris = ?, grant_types = ?, client_name = ?, client_uri = ?, logo_uri = ?, token_endpoint_auth_method = ?, client_type = ?, updated_at = ?
  returning id)
insert into postern_oauth_clients (client_id, settings, document_url, document_expires_at, reconsent_after)
select client.id as client_id, ?::jsonb as settings, ?::text as document_url, ?::timestamptz as document_expires_at, null::timestamptz as reconsent_after
from client
on conflict (client_id) do update
set settings = ?, document_expires_at = ?, reconsent_after =
case
when exists (
  select
  from before
  where client_name is distinct from ? or redirect_uris <> ?) then ?::timestamptz
else postern_oauth_clients.reconsent_after end

with client as (
  insert into oauth_clients (redirect_uris, grant_types, client_name, client_uri, logo_uri, token_endpoint_auth_method, id, client_type, registration_type, client_secret_hash, created_at, updated_at, deleted_at)
  values (?...))
insert into postern_oauth_clients (client_id, settings, document_url, document_expires_at, registration_token_hash, reconsent_after, last_used_at, metadata_hash)
values (?...)

with client as (
  update oauth_clients
  set redirect_uris = ?, grant_types = ?, client_name = ?, client_uri = ?, logo_uri = ?, token_endpoint_auth_method = ?, updated_at = ?
  where id = ?)
insert into postern_oauth_clients (client_id, settings, document_url, document_expires_at, registration_token_hash, reconsent_after, last_used_at)
values (?...)
on conflict (client_id) do update
set settings = ?, metadata_hash = ?

with client as (
  update oauth_clients
  set redirect_uris = ?, grant_types = ?, client_name = ?, client_uri = ?, logo_uri = ?, token_endpoint_auth_method = ?, updated_at = ?
  where id = ?)
insert into postern_oauth_clients (client_id, settings, document_url, document_expires_at, registration_token_hash, reconsent_after, last_used_at)
values (?...)
on conflict (client_id) do update
set settings = ?, metadata_hash = ?, reconsent_after = ?
