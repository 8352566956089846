update postern_oauth_requests
set consumed_at = ?, issued_session_id = ?
where id = ?
