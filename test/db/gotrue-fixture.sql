-- The rows of a small, lived-in installation, as GoTrue's current release leaves them in its own tables.
insert into auth.users (instance_id, id, aud, role, email, encrypted_password, email_confirmed_at,
  confirmation_token, recovery_token, email_change_token_new, email_change, raw_app_meta_data,
  raw_user_meta_data, created_at, updated_at, phone)
values
  ('00000000-0000-0000-0000-000000000000', '11111111-1111-4111-8111-111111111111', 'authenticated',
    'authenticated', 'ada@example.com',
    '$2a$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy', '2024-01-05 10:00:00+00',
    '', '', '', '', '{"provider": "email", "providers": ["email"]}', '{"name": "Ada"}',
    '2024-01-05 09:59:00+00', '2024-01-05 10:00:00+00', null),
  ('00000000-0000-0000-0000-000000000000', '22222222-2222-4222-8222-222222222222', 'authenticated',
    'authenticated', null, '', null, '', '', '', '', '{"provider": "phone", "providers": ["phone"]}',
    '{}', '2024-02-01 00:00:00+00', '2024-02-01 00:00:00+00', '4915112345678');

insert into auth.identities (provider_id, user_id, identity_data, provider, created_at, updated_at, id)
values
  ('11111111-1111-4111-8111-111111111111', '11111111-1111-4111-8111-111111111111',
    '{"sub": "11111111-1111-4111-8111-111111111111", "email": "Ada@example.com"}', 'email',
    '2024-01-05 09:59:00+00', '2024-01-05 09:59:00+00', '1d1d1d1d-1111-4111-8111-111111111111');

insert into auth.sessions (id, user_id, created_at, updated_at, aal)
values ('33333333-3333-4333-8333-333333333333', '11111111-1111-4111-8111-111111111111',
  '2024-01-05 10:00:00+00', '2024-01-05 10:00:00+00', 'aal1');

insert into auth.refresh_tokens (instance_id, token, user_id, revoked, created_at, updated_at, parent,
  session_id)
values ('00000000-0000-0000-0000-000000000000', 'pq3nxy7abcde',
  '11111111-1111-4111-8111-111111111111', false, '2024-01-05 10:00:00+00',
  '2024-01-05 10:00:00+00', '', '33333333-3333-4333-8333-333333333333');

insert into auth.mfa_factors (id, user_id, friendly_name, factor_type, status, created_at, updated_at,
  secret)
values ('44444444-4444-4444-8444-444444444444', '11111111-1111-4111-8111-111111111111', 'phone app',
  'totp', 'verified', '2024-01-06 10:00:00+00', '2024-01-06 10:00:00+00', 'JBSWY3DPEHPK3PXP');

insert into auth.mfa_challenges (id, factor_id, created_at, ip_address)
values ('55555555-5555-4555-8555-555555555555', '44444444-4444-4444-8444-444444444444',
  '2024-01-06 10:01:00+00', '192.0.2.7');

insert into auth.mfa_amr_claims (session_id, created_at, updated_at, authentication_method, id)
values ('33333333-3333-4333-8333-333333333333', '2024-01-05 10:00:00+00', '2024-01-05 10:00:00+00',
  'password', '66666666-6666-4666-8666-666666666666');

insert into auth.flow_state (id, auth_code, code_challenge_method, code_challenge, provider_type,
  created_at, updated_at, authentication_method)
values ('77777777-7777-4777-8777-777777777777', 'ac0de', 's256', 'challenge', 'email',
  '2024-01-05 10:00:00+00', '2024-01-05 10:00:00+00', 'magiclink');

insert into auth.audit_log_entries (instance_id, id, payload, created_at, ip_address)
values ('00000000-0000-0000-0000-000000000000', '88888888-8888-4888-8888-888888888888',
  '{"action": "login", "actor_id": "11111111-1111-4111-8111-111111111111"}',
  '2024-01-05 10:00:00+00', '192.0.2.7');

insert into auth.one_time_tokens (id, user_id, token_type, token_hash, relates_to)
values ('99999999-9999-4999-8999-999999999999', '11111111-1111-4111-8111-111111111111', 'recovery_token',
  'd14a028c2a3a2bc9476102bb288234c415a2b01f828ea62ac5b3e42f', 'ada@example.com');
