delete from oauth_consents
where user_id = ?

insert into oauth_consents (id, user_id, client_id, scopes, granted_at, revoked_at)
values (?...)
on conflict (user_id, client_id) do update
set scopes = ?, granted_at = ?, revoked_at = ?

select id, user_id, client_id, scopes, granted_at
from oauth_consents
where user_id = ? and client_id = ? and revoked_at is null

select oauth_consents.id, oauth_consents.user_id, users.email, oauth_consents.scopes, oauth_consents.granted_at, (extract(epoch from oauth_consents.granted_at) * 1000000)::float8 as place
from oauth_consents
inner join users on users.id = oauth_consents.user_id
where oauth_consents.client_id = ? and oauth_consents.revoked_at is null
order by oauth_consents.granted_at desc, oauth_consents.id desc
limit ?

update oauth_consents
set revoked_at = greatest(granted_at, ?::timestamptz)
where user_id = ? and client_id = ? and revoked_at is null

update oauth_consents
set revoked_at = greatest(granted_at, ?::timestamptz)
where user_id = ? and revoked_at is null

update oauth_consents
set revoked_at = greatest(granted_at, ?::timestamptz)
where user_id = ? and revoked_at is null and granted_at > ?
