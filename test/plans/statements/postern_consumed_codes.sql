insert into postern_consumed_codes (code_hash, session_id, code_challenge, code_challenge_method, consumed_at)
values (?...)

select session_id, user_id, code_challenge, code_challenge_method
from postern_consumed_codes
inner join sessions on sessions.id = postern_consumed_codes.session_id
where code_hash = ?
