insert into oauth_client_states (id, provider_type, code_verifier, created_at)
values (?...)
