delete from webauthn_challenges
where (exists (
    select challenge_id
    from postern_passkey_challenges
    where challenge_id = webauthn_challenges.id and session_id = ?) or not exists (
    select challenge_id
    from postern_passkey_challenges
    where challenge_id = webauthn_challenges.id)) and webauthn_challenges.id = ? and webauthn_challenges.challenge_type = ? and webauthn_challenges.user_id = ?
returning webauthn_challenges.session_data, webauthn_challenges.expires_at

delete from webauthn_challenges
where id = ? and challenge_type = ? and user_id is null
returning session_data, expires_at

insert into webauthn_challenges (id, user_id, challenge_type, session_data, created_at, expires_at)
values (?...)

with made as (
  insert into webauthn_challenges (id, user_id, challenge_type, session_data, created_at, expires_at)
  values (?...))
insert into postern_passkey_challenges (challenge_id, session_id)
values (?...)
