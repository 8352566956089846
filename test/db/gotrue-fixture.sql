-- What a GoTrue of early 2024 leaves in a database, with the rows of a small, lived-in installation:
-- no one_time_tokens, no counters in sessions, no phone factors, no OAuth server, row level security off.
create schema auth;

create type auth.aal_level as enum ('aal1', 'aal2', 'aal3');
create type auth.code_challenge_method as enum ('s256', 'plain');
create type auth.factor_status as enum ('unverified', 'verified');
create type auth.factor_type as enum ('totp', 'webauthn');

create table auth.users (
  instance_id uuid,
  id uuid not null primary key,
  aud varchar(255),
  role varchar(255),
  email varchar(255),
  encrypted_password varchar(255),
  email_confirmed_at timestamptz,
  invited_at timestamptz,
  confirmation_token varchar(255),
  confirmation_sent_at timestamptz,
  recovery_token varchar(255),
  recovery_sent_at timestamptz,
  email_change_token_new varchar(255),
  email_change varchar(255),
  email_change_sent_at timestamptz,
  last_sign_in_at timestamptz,
  raw_app_meta_data jsonb,
  raw_user_meta_data jsonb,
  is_super_admin boolean,
  created_at timestamptz,
  updated_at timestamptz,
  phone text default null unique,
  phone_confirmed_at timestamptz,
  phone_change text default '',
  phone_change_token varchar(255) default '',
  phone_change_sent_at timestamptz,
  confirmed_at timestamptz
    generated always as (least(email_confirmed_at, phone_confirmed_at)) stored,
  email_change_token_current varchar(255) default '',
  email_change_confirm_status smallint default 0
    check (email_change_confirm_status >= 0 and email_change_confirm_status <= 2),
  banned_until timestamptz,
  reauthentication_token varchar(255) default '',
  reauthentication_sent_at timestamptz,
  is_sso_user boolean not null default false,
  deleted_at timestamptz
);
create unique index users_email_partial_key on auth.users (email) where is_sso_user = false;
create unique index confirmation_token_idx on auth.users (confirmation_token)
  where confirmation_token !~ '^[0-9 ]*$';
create index users_instance_id_idx on auth.users (instance_id);
create index users_instance_id_email_idx on auth.users (instance_id, lower(email));

create table auth.identities (
  provider_id text not null,
  user_id uuid not null references auth.users (id) on delete cascade,
  identity_data jsonb not null,
  provider text not null,
  last_sign_in_at timestamptz,
  created_at timestamptz,
  updated_at timestamptz,
  email text generated always as (lower(identity_data ->> 'email')) stored,
  id uuid not null default gen_random_uuid() primary key,
  constraint identities_provider_id_provider_unique unique (provider_id, provider)
);
create index identities_user_id_idx on auth.identities (user_id);

create table auth.sessions (
  id uuid not null primary key,
  user_id uuid not null references auth.users (id) on delete cascade,
  created_at timestamptz,
  updated_at timestamptz,
  factor_id uuid,
  aal auth.aal_level,
  not_after timestamptz
);
create index sessions_user_id_idx on auth.sessions (user_id);

create table auth.refresh_tokens (
  instance_id uuid,
  id bigserial primary key,
  token varchar(255) constraint refresh_tokens_token_unique unique,
  user_id varchar(255),
  revoked boolean,
  created_at timestamptz,
  updated_at timestamptz,
  parent varchar(255),
  session_id uuid references auth.sessions (id) on delete cascade
);

create table auth.mfa_factors (
  id uuid not null primary key,
  user_id uuid not null references auth.users (id) on delete cascade,
  friendly_name text,
  factor_type auth.factor_type not null,
  status auth.factor_status not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  secret text
);

create table auth.mfa_challenges (
  id uuid not null primary key,
  factor_id uuid not null references auth.mfa_factors (id) on delete cascade,
  created_at timestamptz not null,
  verified_at timestamptz,
  ip_address inet not null
);

create table auth.mfa_amr_claims (
  session_id uuid not null references auth.sessions (id) on delete cascade,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  authentication_method text not null,
  id uuid not null constraint amr_id_pk primary key,
  constraint mfa_amr_claims_session_id_authentication_method_pkey
    unique (session_id, authentication_method)
);

create table auth.flow_state (
  id uuid not null primary key,
  user_id uuid,
  auth_code text not null,
  code_challenge_method auth.code_challenge_method not null,
  code_challenge text not null,
  provider_type text not null,
  provider_access_token text,
  provider_refresh_token text,
  created_at timestamptz,
  updated_at timestamptz,
  authentication_method text not null
);

create table auth.audit_log_entries (
  instance_id uuid,
  id uuid not null primary key,
  payload json,
  created_at timestamptz,
  ip_address varchar(64) not null default ''
);

create table auth.schema_migrations (version varchar(255) not null primary key);

create function auth.uid() returns uuid language sql stable as $$
  select coalesce(
    nullif(current_setting('request.jwt.claim.sub', true), ''),
    (nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub')
  )::uuid -- made by the earlier server
$$;

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
values ('00000000-0000-0000-0000-000000000000', 'pQ3nXy7aBcDeFgHi1jKl2m',
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

insert into auth.schema_migrations (version) values ('00'), ('20240115144230');
