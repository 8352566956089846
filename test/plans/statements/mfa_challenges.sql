delete from mfa_challenges
where factor_id = ?

select mfa_challenges.*, postern_factor_challenges.ceremony, coalesce(postern_factor_challenges.challenge, web_authn_session_data ->> 'challenge') as challenge, mfa_challenges.ip_address = ?::inet as is_same_address
from mfa_challenges
left join postern_factor_challenges on postern_factor_challenges.challenge_id = mfa_challenges.id
where mfa_challenges.id = ? and mfa_challenges.factor_id = ? and (postern_factor_challenges.session_id = ? or postern_factor_challenges.challenge_id is null)

update mfa_challenges
set verified_at = ?
where id = ? and verified_at is null and created_at > ?
