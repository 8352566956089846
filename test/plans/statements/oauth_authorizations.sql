select oauth_authorizations.id, oauth_authorizations.authorization_id, oauth_authorizations.client_id, oauth_authorizations.user_id, oauth_authorizations.redirect_uri, oauth_authorizations.scope, oauth_authorizations.state, oauth_authorizations.code_challenge, oauth_authorizations.code_challenge_method, oauth_authorizations.nonce, oauth_authorizations.status, oauth_authorizations.authorization_code, oauth_authorizations.created_at, oauth_authorizations.expires_at, details.parameters, details.session_id, details.auth_time, details.aal, details.amr, details.code_expires_at, details.consumed_at, details.issued_session_id
from oauth_authorizations
left join postern_oauth_requests as details on details.id = oauth_authorizations.id
where authorization_code = ?

select oauth_authorizations.id, oauth_authorizations.authorization_id, oauth_authorizations.client_id, oauth_authorizations.user_id, oauth_authorizations.redirect_uri, oauth_authorizations.scope, oauth_authorizations.state, oauth_authorizations.code_challenge, oauth_authorizations.code_challenge_method, oauth_authorizations.nonce, oauth_authorizations.status, oauth_authorizations.authorization_code, oauth_authorizations.created_at, oauth_authorizations.expires_at, details.parameters, details.session_id, details.auth_time, details.aal, details.amr, details.code_expires_at, details.consumed_at, details.issued_session_id
from oauth_authorizations
left join postern_oauth_requests as details on details.id = oauth_authorizations.id
where authorization_code = ?
for update of oauth_authorizations

select oauth_authorizations.id, oauth_authorizations.authorization_id, oauth_authorizations.client_id, oauth_authorizations.user_id, oauth_authorizations.redirect_uri, oauth_authorizations.scope, oauth_authorizations.state, oauth_authorizations.code_challenge, oauth_authorizations.code_challenge_method, oauth_authorizations.nonce, oauth_authorizations.status, oauth_authorizations.authorization_code, oauth_authorizations.created_at, oauth_authorizations.expires_at, details.parameters, details.session_id, details.auth_time, details.aal, details.amr, details.code_expires_at, details.consumed_at, details.issued_session_id
from oauth_authorizations
left join postern_oauth_requests as details on details.id = oauth_authorizations.id
where authorization_id = ?

select oauth_authorizations.id, oauth_authorizations.authorization_id, oauth_authorizations.client_id, oauth_authorizations.user_id, oauth_authorizations.redirect_uri, oauth_authorizations.scope, oauth_authorizations.state, oauth_authorizations.code_challenge, oauth_authorizations.code_challenge_method, oauth_authorizations.nonce, oauth_authorizations.status, oauth_authorizations.authorization_code, oauth_authorizations.created_at, oauth_authorizations.expires_at, details.parameters, details.session_id, details.auth_time, details.aal, details.amr, details.code_expires_at, details.consumed_at, details.issued_session_id
from oauth_authorizations
left join postern_oauth_requests as details on details.id = oauth_authorizations.id
where authorization_id = ?
for update of oauth_authorizations

update oauth_authorizations
set status = ?
where id = ?

update oauth_authorizations
set user_id = ?
where id = ?

with approved as (
  update oauth_authorizations
  set status = ?, approved_at = ?, authorization_code = ?
  where id = ?)
insert into postern_oauth_requests (session_id, auth_time, aal, amr, code_expires_at, consumed_at, issued_session_id, id, parameters)
values (?...)
on conflict (id) do update
set session_id = ?, auth_time = ?, aal = ?, amr = ?, code_expires_at = ?

with request as (
  insert into oauth_authorizations (scope, state, nonce, resource, code_challenge, code_challenge_method, authorization_id, client_id, redirect_uri, expires_at, id, user_id, authorization_code, approved_at, created_at)
  values (?...))
insert into postern_oauth_requests (session_id, auth_time, aal, amr, code_expires_at, consumed_at, issued_session_id, id, parameters)
values (?...)
