delete from postern_new_sign_in_methods
where user_id = ?

insert into postern_new_sign_in_methods (user_id, method, added_at, previous_address)
values (?...)
on conflict (user_id, method) do update
set added_at = ?, previous_address =
case
when postern_new_sign_in_methods.added_at > ? then coalesce(postern_new_sign_in_methods.previous_address, excluded.previous_address)
else excluded.previous_address end

select previous_address
from postern_new_sign_in_methods
where user_id = ? and method = ? and added_at > ?

select recent.added, proof.reauthenticated_at as "reauthenticatedAt", coalesce(proof.by_sms, false) as "bySms"
from (
  select coalesce( json_object_agg(method, floor(extract(epoch from added_at))), '{}') as added
  from postern_new_sign_in_methods
  where user_id = ? and added_at > ?) as recent
left join postern_session_proofs as proof on proof.session_id = ?
