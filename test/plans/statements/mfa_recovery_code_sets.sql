update mfa_recovery_code_sets
set failed_verification_count = greatest(failed_verification_count - 1, 0), verification_locked_until =
case
when greatest(failed_verification_count - 1, 0) >= ? then verification_locked_until end
where id = ?

update mfa_recovery_code_sets as sets
set failed_verification_count =
case
when sets.verification_locked_until is null then sets.failed_verification_count
else 0 end + 1, verification_locked_until =
case
when
case
when sets.verification_locked_until is null then sets.failed_verification_count
else 0 end + 1 >= ? then ?::timestamptz end, updated_at = ?
where sets.user_id = ? and coalesce(sets.verification_locked_until <= ?, true)
returning sets.id as "setId", sets.mfa_factor_id as "factorId", sets.failed_verification_count as failures, (
  select coalesce(json_agg(agg), '[]')
  from (
    select codes.id, codes.code_hash, digests.digest, digests.key_id
    from mfa_recovery_codes as codes
    left join postern_recovery_code_digests as digests on digests.code_id = codes.id
    where codes.mfa_recovery_code_set_id = sets.id and codes.consumed_at is null) as agg) as codes
