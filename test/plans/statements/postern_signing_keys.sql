insert into postern_signing_keys (kid, alg, state, private_jwk, public_jwk, activates_at, created_at)
values (?...)
on conflict (kid) do nothing

select kid, alg, state, private_jwk, public_jwk, created_at, activates_at, retires_at, revoked_at
from postern_signing_keys
order by created_at, kid

update postern_signing_keys
set state = ?, private_jwk = ?, revoked_at = ?
where kid = ? and state <> ?
