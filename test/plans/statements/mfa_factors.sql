delete from mfa_factors
where id = ? and user_id = ?
returning mfa_factors.id, mfa_factors.created_at, mfa_factors.updated_at, mfa_factors.status, mfa_factors.friendly_name, mfa_factors.factor_type, mfa_factors.phone, mfa_factors.last_challenged_at, mfa_factors.web_authn_aaguid

delete from mfa_factors
where user_id = ?

delete from mfa_factors
where user_id = ? and status = ? and (phone = ? or (created_at < ? and coalesce(last_challenged_at < ?, true)))
returning id

select mfa_factors.*, postern_factors.enrolled_in
from mfa_factors
left join postern_factors on postern_factors.factor_id = mfa_factors.id
where mfa_factors.user_id = ? and mfa_factors.factor_type = ? and mfa_factors.status = ?
order by mfa_factors.created_at

select mfa_factors.*, postern_factors.enrolled_in
from mfa_factors
left join postern_factors on postern_factors.factor_id = mfa_factors.id
where mfa_factors.user_id = ? and mfa_factors.id = ?

select mfa_factors.id, mfa_factors.created_at, mfa_factors.updated_at, mfa_factors.status, mfa_factors.friendly_name, mfa_factors.factor_type, mfa_factors.phone, mfa_factors.last_challenged_at, mfa_factors.web_authn_aaguid
from mfa_factors
where mfa_factors.user_id = ?
order by mfa_factors.created_at

select sets.id, sets.mfa_factor_id as "factorId", sets.verification_locked_until as "lockedUntil", mfa_factors.friendly_name as name, count(codes.id) as total, count(codes.id) filter (
  where codes.consumed_at is null) as remaining
from mfa_recovery_code_sets as sets
inner join mfa_factors on mfa_factors.id = sets.mfa_factor_id
left join mfa_recovery_codes as codes on codes.mfa_recovery_code_set_id = sets.id
where sets.user_id = ?
group by sets.id, mfa_factors.id

update mfa_factors
set secret = ?
where id = ? and secret = ?

update mfa_factors
set updated_at = ?, friendly_name = ?
where id = ? and user_id = ?
returning mfa_factors.id, mfa_factors.created_at, mfa_factors.updated_at, mfa_factors.status, mfa_factors.friendly_name, mfa_factors.factor_type, mfa_factors.phone, mfa_factors.last_challenged_at, mfa_factors.web_authn_aaguid

update mfa_factors
set updated_at = ?, friendly_name = ?, phone =
case
when factor_type = ? then ?
else mfa_factors.phone end
where id = ? and user_id = ?
returning mfa_factors.id, mfa_factors.created_at, mfa_factors.updated_at, mfa_factors.status, mfa_factors.friendly_name, mfa_factors.factor_type, mfa_factors.phone, mfa_factors.last_challenged_at, mfa_factors.web_authn_aaguid

update mfa_factors
set updated_at = ?, phone =
case
when factor_type = ? then ?
else mfa_factors.phone end
where id = ? and user_id = ?
returning mfa_factors.id, mfa_factors.created_at, mfa_factors.updated_at, mfa_factors.status, mfa_factors.friendly_name, mfa_factors.factor_type, mfa_factors.phone, mfa_factors.last_challenged_at, mfa_factors.web_authn_aaguid

update mfa_factors
set web_authn_credential = ?, web_authn_aaguid = ?, updated_at = ?
where id = ?

update mfa_factors
set web_authn_credential = ?, web_authn_aaguid = ?, updated_at = ?
where id = ? and (coalesce((web_authn_credential -> 'authenticator' ->> 'signCount')::bigint, 0) < ? or (coalesce((web_authn_credential -> 'authenticator' ->> 'signCount')::bigint, 0) = 0 and ? = 0))

update mfa_factors
set web_authn_credential = jsonb_set(web_authn_credential, '{authenticator,cloneWarning}', 'true'), updated_at = ?
where id = ?

with added as (
  insert into mfa_factors (id, user_id, friendly_name, factor_type, status, created_at, updated_at, secret, phone)
  values (?...)
  returning id)
insert into postern_factors (factor_id, enrolled_in)
select added.id as factor_id, ?::uuid as enrolled_in
from added

with factor as (
  insert into mfa_factors (id, user_id, friendly_name, factor_type, status, secret, created_at, updated_at)
  values (?...))
insert into mfa_recovery_code_sets (id, user_id, mfa_factor_id, created_at, updated_at)
values (?...)

with others as (
  delete from mfa_factors
  where user_id = ? and factor_type = ? and status = ? and id <> ?)
update mfa_factors
set status = ?, updated_at = ?
where id = ?
