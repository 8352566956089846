select
from auth.scim_tokens
where last_used_at is null

select ?::jsonb as metadata, ?::jsonb as "identityData"

select ?::oid::regclass::text as name

select auth_jobs.add_job( identifier => ?::text, payload => ?::json, run_at => now() + make_interval(secs => ?::float8 / 1000), max_attempts => ?::integer, job_key => ?::text, job_key_mode => ?::text )

select pg_advisory_xact_lock(hashtextextended(?, 0)) as lock

select pg_advisory_xact_lock_shared(hashtextextended(?, 0)) as lock

select pg_notify(?, '')
