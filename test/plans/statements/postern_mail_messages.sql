delete from postern_mail_messages
where id = ? and state <> ?

insert into postern_mail_messages (id, kind, payload, expires_at, state, attempts, reason, created_at, updated_at, sent_at, user_id, locale, outcome, response)
values (?...)

select (count(*) filter (
    where state <> 'dead'))::integer as waiting, (count(*) filter (
    where state = 'dead'))::integer as dead, min(created_at) filter (
  where state <> 'dead') as oldest_waiting
from postern_mail_messages
where state in (?...)

select *
from postern_mail_messages
order by created_at desc, id desc
limit ?

select *
from postern_mail_messages
where (created_at, id) < ('epoch'::timestamptz + ?::float8 * interval '1 microsecond', ?::uuid)
order by created_at desc, id desc
limit ?

select *
from postern_mail_messages
where kind = ?
order by created_at desc, id desc
limit ?

select *
from postern_mail_messages
where state = ?
order by created_at
limit ?

select *
from postern_mail_messages
where state in (?)
order by created_at desc, id desc
limit ?

select id, kind, locale, state, outcome, attempts, reason, response, created_at, updated_at, expires_at, sent_at
from postern_mail_messages
where user_id = ?
order by created_at desc
limit ?

select id, kind, payload, state, attempts, reason, created_at, updated_at, expires_at
from postern_mail_messages
where id = ?

update postern_mail_messages
set state = ?, attempts = ?, updated_at = ?
where id = ? and attempts = ? and state = ?
returning id, attempts

update postern_mail_messages
set state = ?, payload = ?, reason = ?, outcome = ?, response = ?, updated_at = ?, sent_at = ?
where id = ? and attempts = ? and state in (?...)

with message as (
  insert into postern_mail_messages (id, kind, payload, expires_at, state, attempts, reason, created_at, updated_at, sent_at, user_id, locale, outcome, response)
  values (?...)
  returning id)
select auth_jobs.add_job( identifier => ?::text, payload => json_strip_nulls(json_build_object('id', message.id, 'origin', ?::text)), run_at => now() + make_interval(secs => ?::float8 / 1000), max_attempts => ?::integer, job_key => 'mail:' || message.id::text, job_key_mode => ?::text ) as job
from message

with message as (
  update postern_mail_messages
  set state = ?, reason = ?, outcome = ?, updated_at = ?
  where id = ? and state = ?
  returning id)
select auth_jobs.add_job( identifier => ?::text, payload => json_strip_nulls(json_build_object('id', message.id, 'origin', ?::text)), run_at => now() + make_interval(secs => ?::float8 / 1000), max_attempts => ?::integer, job_key => 'mail:' || message.id::text, job_key_mode => ?::text ) as job
from message
