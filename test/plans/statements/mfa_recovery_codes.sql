with added as (
  insert into mfa_recovery_codes (id, mfa_recovery_code_set_id, code_hash, created_at)
  values (?...), ...)
insert into postern_recovery_code_digests (code_id, digest, key_id)
values (?...), ...

with consumed as (
  update mfa_recovery_codes
  set consumed_at = ?
  where id = ? and consumed_at is null
  returning id, mfa_recovery_code_set_id as set_id)
update mfa_recovery_code_sets
set failed_verification_count = ?, verification_locked_until = ?, updated_at = ?
from consumed
where mfa_recovery_code_sets.id = consumed.set_id
returning (
  select count(*) as count
  from mfa_recovery_codes as others
  where others.mfa_recovery_code_set_id = consumed.set_id and others.id <> consumed.id and others.consumed_at is null) as remaining

with former as (
  delete from mfa_recovery_codes
  where mfa_recovery_code_set_id = ?)
update mfa_recovery_code_sets
set failed_verification_count = ?, verification_locked_until = ?, updated_at = ?
where id = ?
