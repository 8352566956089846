select id
from refresh_tokens
where session_id = ?
limit ?

select id
from refresh_tokens
where session_id = ? and id <> ? and revoked = ? and updated_at > ?

select id, token, session_id, revoked, created_at, updated_at
from refresh_tokens
where token = ?

select token
from refresh_tokens
where session_id = ? and parent = ? and revoked is not true
order by id desc
