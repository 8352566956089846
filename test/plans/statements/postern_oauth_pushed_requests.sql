delete from postern_oauth_pushed_requests
where id = ? and client_id = ? and expires_at > ?
returning client_id, parameters

insert into postern_oauth_pushed_requests (id, client_id, parameters, created_at, expires_at)
values (?...)
