delete from webauthn_credentials
where id = ? and user_id = ?

delete from webauthn_credentials
where user_id = ?

insert into webauthn_credentials (id, user_id, credential_id, public_key, attestation_type, aaguid, sign_count, transports, backup_eligible, backed_up, friendly_name, created_at, updated_at)
values (?...)
returning id, friendly_name, created_at, last_used_at

select id, friendly_name, created_at, last_used_at, credential_id
from webauthn_credentials
where user_id = ?
order by created_at, id

select id, user_id, credential_id, public_key, backup_eligible
from webauthn_credentials
where credential_id = ?

update webauthn_credentials
set friendly_name = ?, updated_at = ?
where id = ? and user_id = ?
returning id, friendly_name, created_at, last_used_at

with advanced as (
  update webauthn_credentials
  set sign_count = ?, backed_up = ?, last_used_at = ?, updated_at = ?
  where id = ? and (sign_count < ?::bigint or (sign_count = 0 and ?::bigint = 0))
  returning id)
select advanced.id
from webauthn_credentials
left join advanced on advanced.id = webauthn_credentials.id
where webauthn_credentials.id = ?
