insert into postern_oauth_clients (client_id, settings, document_url, document_expires_at, registration_token_hash, reconsent_after, last_used_at)
values (?...)
on conflict (client_id) do update
set last_used_at = ?
where (postern_oauth_clients.last_used_at is null or postern_oauth_clients.last_used_at < ?)
