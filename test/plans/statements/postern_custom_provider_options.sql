insert into postern_custom_provider_options (provider_id, own_callback, id_token_signed_response_alg)
values (?...)
on conflict (provider_id) do update
set provider_id = ?, own_callback = ?, id_token_signed_response_alg = ?
returning own_callback, id_token_signed_response_alg
