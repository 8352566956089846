delete from postern_page_sessions
using sessions
where sessions.id = postern_page_sessions.session_id and sessions.user_id = ?

insert into postern_page_sessions (id, session_id, created_at, last_used_at, expires_at)
select ? as id, sessions.id as session_id, ?::timestamptz as created_at, ?::timestamptz as last_used_at, ?::timestamptz as expires_at
from sessions
inner join users on users.id = sessions.user_id
where sessions.id = ? and coalesce(users.banned_until <= ?, true)
for share of users

select *
from postern_page_sessions
where id = ? and expires_at > ?
