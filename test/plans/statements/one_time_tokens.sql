select id
from one_time_tokens
where relates_to = ? and token_type = ? and user_id <> ?

select id, user_id, token_type, token_hash, relates_to
from one_time_tokens
where relates_to = ? and token_type = ?
order by updated_at desc
limit ?

select id, user_id, token_type, token_hash, relates_to
from one_time_tokens
where token_hash in (?) and token_type in (?) and (coalesce((
      select details.expires_at
      from postern_one_time_tokens as details
      where details.token_id = one_time_tokens.id), (
      select
      case one_time_tokens.token_type
      when 'confirmation_token' then users.confirmation_sent_at
      when 'reauthentication_token' then users.reauthentication_sent_at
      when 'recovery_token' then users.recovery_sent_at
      when 'email_change_token_new' then users.email_change_sent_at
      when 'email_change_token_current' then users.email_change_sent_at
      when 'phone_change_token' then users.phone_change_sent_at end + make_interval(secs =>
        case
        when one_time_tokens.relates_to like '%@%' then ?::float8
        else ?::float8 end) as expires_at
      from users
      where users.id = one_time_tokens.user_id)) > ? and coalesce((
      select details.failed_attempts
      from postern_one_time_tokens as details
      where details.token_id = one_time_tokens.id), 0) < 10)

select id, user_id, token_type, token_hash, relates_to
from one_time_tokens
where token_hash in (?) and token_type in (?) and (coalesce((
      select details.expires_at
      from postern_one_time_tokens as details
      where details.token_id = one_time_tokens.id), (
      select
      case one_time_tokens.token_type
      when 'confirmation_token' then users.confirmation_sent_at
      when 'reauthentication_token' then users.reauthentication_sent_at
      when 'recovery_token' then users.recovery_sent_at
      when 'email_change_token_new' then users.email_change_sent_at
      when 'email_change_token_current' then users.email_change_sent_at
      when 'phone_change_token' then users.phone_change_sent_at end + make_interval(secs =>
        case
        when one_time_tokens.relates_to like '%@%' then ?::float8
        else ?::float8 end) as expires_at
      from users
      where users.id = one_time_tokens.user_id)) > ? and coalesce((
      select details.failed_attempts
      from postern_one_time_tokens as details
      where details.token_id = one_time_tokens.id), 0) < 10) and not exists (
  select details.token_id
  from postern_one_time_tokens as details
  where details.token_id = one_time_tokens.id and details.purpose = ?)

select id, user_id, token_type, token_hash, relates_to
from one_time_tokens
where token_hash in (?) and token_type in (?...) and (coalesce((
      select details.expires_at
      from postern_one_time_tokens as details
      where details.token_id = one_time_tokens.id), (
      select
      case one_time_tokens.token_type
      when 'confirmation_token' then users.confirmation_sent_at
      when 'reauthentication_token' then users.reauthentication_sent_at
      when 'recovery_token' then users.recovery_sent_at
      when 'email_change_token_new' then users.email_change_sent_at
      when 'email_change_token_current' then users.email_change_sent_at
      when 'phone_change_token' then users.phone_change_sent_at end + make_interval(secs =>
        case
        when one_time_tokens.relates_to like '%@%' then ?::float8
        else ?::float8 end) as expires_at
      from users
      where users.id = one_time_tokens.user_id)) > ? and coalesce((
      select details.failed_attempts
      from postern_one_time_tokens as details
      where details.token_id = one_time_tokens.id), 0) < 10)

select locked.id
from (
  select distinct user_id as id
  from one_time_tokens
  where token_hash in (?) and token_type in (?) and (coalesce((
        select details.expires_at
        from postern_one_time_tokens as details
        where details.token_id = one_time_tokens.id), (
        select
        case one_time_tokens.token_type
        when 'confirmation_token' then users.confirmation_sent_at
        when 'reauthentication_token' then users.reauthentication_sent_at
        when 'recovery_token' then users.recovery_sent_at
        when 'email_change_token_new' then users.email_change_sent_at
        when 'email_change_token_current' then users.email_change_sent_at
        when 'phone_change_token' then users.phone_change_sent_at end + make_interval(secs =>
          case
          when one_time_tokens.relates_to like '%@%' then ?::float8
          else ?::float8 end) as expires_at
        from users
        where users.id = one_time_tokens.user_id)) > ? and coalesce((
        select details.failed_attempts
        from postern_one_time_tokens as details
        where details.token_id = one_time_tokens.id), 0) < 10)
  order by user_id) as requested
inner join lateral (
  select users.id
  from users
  where users.id = requested.id
  for update) as locked on true

select locked.id
from (
  select distinct user_id as id
  from one_time_tokens
  where token_hash in (?) and token_type in (?) and (coalesce((
        select details.expires_at
        from postern_one_time_tokens as details
        where details.token_id = one_time_tokens.id), (
        select
        case one_time_tokens.token_type
        when 'confirmation_token' then users.confirmation_sent_at
        when 'reauthentication_token' then users.reauthentication_sent_at
        when 'recovery_token' then users.recovery_sent_at
        when 'email_change_token_new' then users.email_change_sent_at
        when 'email_change_token_current' then users.email_change_sent_at
        when 'phone_change_token' then users.phone_change_sent_at end + make_interval(secs =>
          case
          when one_time_tokens.relates_to like '%@%' then ?::float8
          else ?::float8 end) as expires_at
        from users
        where users.id = one_time_tokens.user_id)) > ? and coalesce((
        select details.failed_attempts
        from postern_one_time_tokens as details
        where details.token_id = one_time_tokens.id), 0) < 10) and not exists (
    select details.token_id
    from postern_one_time_tokens as details
    where details.token_id = one_time_tokens.id and details.purpose = ?)
  order by user_id) as requested
inner join lateral (
  select users.id
  from users
  where users.id = requested.id
  for update) as locked on true

select locked.id
from (
  select distinct user_id as id
  from one_time_tokens
  where token_hash in (?) and token_type in (?...) and (coalesce((
        select details.expires_at
        from postern_one_time_tokens as details
        where details.token_id = one_time_tokens.id), (
        select
        case one_time_tokens.token_type
        when 'confirmation_token' then users.confirmation_sent_at
        when 'reauthentication_token' then users.reauthentication_sent_at
        when 'recovery_token' then users.recovery_sent_at
        when 'email_change_token_new' then users.email_change_sent_at
        when 'email_change_token_current' then users.email_change_sent_at
        when 'phone_change_token' then users.phone_change_sent_at end + make_interval(secs =>
          case
          when one_time_tokens.relates_to like '%@%' then ?::float8
          else ?::float8 end) as expires_at
        from users
        where users.id = one_time_tokens.user_id)) > ? and coalesce((
        select details.failed_attempts
        from postern_one_time_tokens as details
        where details.token_id = one_time_tokens.id), 0) < 10)
  order by user_id) as requested
inner join lateral (
  select users.id
  from users
  where users.id = requested.id
  for update) as locked on true

select locked.id
from (
  select distinct user_id as id
  from one_time_tokens
  where token_hash in (?...) and token_type in (?) and (coalesce((
        select details.expires_at
        from postern_one_time_tokens as details
        where details.token_id = one_time_tokens.id), (
        select
        case one_time_tokens.token_type
        when 'confirmation_token' then users.confirmation_sent_at
        when 'reauthentication_token' then users.reauthentication_sent_at
        when 'recovery_token' then users.recovery_sent_at
        when 'email_change_token_new' then users.email_change_sent_at
        when 'email_change_token_current' then users.email_change_sent_at
        when 'phone_change_token' then users.phone_change_sent_at end + make_interval(secs =>
          case
          when one_time_tokens.relates_to like '%@%' then ?::float8
          else ?::float8 end) as expires_at
        from users
        where users.id = one_time_tokens.user_id)) > ? and coalesce((
        select details.failed_attempts
        from postern_one_time_tokens as details
        where details.token_id = one_time_tokens.id), 0) < 10)
  order by user_id) as requested
inner join lateral (
  select users.id
  from users
  where users.id = requested.id
  for update) as locked on true

select locked.id
from (
  select distinct user_id as id
  from one_time_tokens
  where token_hash in (?...) and token_type in (?) and (coalesce((
        select details.expires_at
        from postern_one_time_tokens as details
        where details.token_id = one_time_tokens.id), (
        select
        case one_time_tokens.token_type
        when 'confirmation_token' then users.confirmation_sent_at
        when 'reauthentication_token' then users.reauthentication_sent_at
        when 'recovery_token' then users.recovery_sent_at
        when 'email_change_token_new' then users.email_change_sent_at
        when 'email_change_token_current' then users.email_change_sent_at
        when 'phone_change_token' then users.phone_change_sent_at end + make_interval(secs =>
          case
          when one_time_tokens.relates_to like '%@%' then ?::float8
          else ?::float8 end) as expires_at
        from users
        where users.id = one_time_tokens.user_id)) > ? and coalesce((
        select details.failed_attempts
        from postern_one_time_tokens as details
        where details.token_id = one_time_tokens.id), 0) < 10) and not exists (
    select details.token_id
    from postern_one_time_tokens as details
    where details.token_id = one_time_tokens.id and details.purpose = ?)
  order by user_id) as requested
inner join lateral (
  select users.id
  from users
  where users.id = requested.id
  for update) as locked on true

select locked.id
from (
  select distinct user_id as id
  from one_time_tokens
  where token_hash in (?...) and token_type in (?...) and (coalesce((
        select details.expires_at
        from postern_one_time_tokens as details
        where details.token_id = one_time_tokens.id), (
        select
        case one_time_tokens.token_type
        when 'confirmation_token' then users.confirmation_sent_at
        when 'reauthentication_token' then users.reauthentication_sent_at
        when 'recovery_token' then users.recovery_sent_at
        when 'email_change_token_new' then users.email_change_sent_at
        when 'email_change_token_current' then users.email_change_sent_at
        when 'phone_change_token' then users.phone_change_sent_at end + make_interval(secs =>
          case
          when one_time_tokens.relates_to like '%@%' then ?::float8
          else ?::float8 end) as expires_at
        from users
        where users.id = one_time_tokens.user_id)) > ? and coalesce((
        select details.failed_attempts
        from postern_one_time_tokens as details
        where details.token_id = one_time_tokens.id), 0) < 10)
  order by user_id) as requested
inner join lateral (
  select users.id
  from users
  where users.id = requested.id
  for update) as locked on true

with consumed as (
  delete from one_time_tokens
  where id = ?
  returning id, user_id, token_type, token_hash, relates_to), cleared as (
  update users
  set confirmation_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'confirmation_token') then ''
  else confirmation_token end, reauthentication_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'reauthentication_token') then ''
  else reauthentication_token end, recovery_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'recovery_token') then ''
  else recovery_token end, email_change_token_new =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'email_change_token_new') then ''
  else email_change_token_new end, email_change_token_current =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'email_change_token_current') then ''
  else email_change_token_current end, phone_change_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'phone_change_token') then ''
  else phone_change_token end
  where id = (
    select consumed.user_id
    from consumed
    limit 1) and ((coalesce(confirmation_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'confirmation_token')) or (coalesce(reauthentication_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'reauthentication_token')) or (coalesce(recovery_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'recovery_token')) or (coalesce(email_change_token_new, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'email_change_token_new')) or (coalesce(email_change_token_current, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'email_change_token_current')) or (coalesce(phone_change_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'phone_change_token'))))
select id, user_id, token_type, token_hash, relates_to
from consumed

with consumed as (
  delete from one_time_tokens
  where id = ? and token_hash = ?
  returning id, user_id, token_type, token_hash, relates_to), cleared as (
  update users
  set confirmation_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'confirmation_token') then ''
  else confirmation_token end, reauthentication_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'reauthentication_token') then ''
  else reauthentication_token end, recovery_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'recovery_token') then ''
  else recovery_token end, email_change_token_new =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'email_change_token_new') then ''
  else email_change_token_new end, email_change_token_current =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'email_change_token_current') then ''
  else email_change_token_current end, phone_change_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'phone_change_token') then ''
  else phone_change_token end
  where id = (
    select consumed.user_id
    from consumed
    limit 1) and ((coalesce(confirmation_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'confirmation_token')) or (coalesce(reauthentication_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'reauthentication_token')) or (coalesce(recovery_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'recovery_token')) or (coalesce(email_change_token_new, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'email_change_token_new')) or (coalesce(email_change_token_current, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'email_change_token_current')) or (coalesce(phone_change_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'phone_change_token'))))
select id, user_id, token_type, token_hash, relates_to
from consumed

with consumed as (
  delete from one_time_tokens
  where token_hash in (?) and token_type in (?) and (coalesce((
        select details.expires_at
        from postern_one_time_tokens as details
        where details.token_id = one_time_tokens.id), (
        select
        case one_time_tokens.token_type
        when 'confirmation_token' then users.confirmation_sent_at
        when 'reauthentication_token' then users.reauthentication_sent_at
        when 'recovery_token' then users.recovery_sent_at
        when 'email_change_token_new' then users.email_change_sent_at
        when 'email_change_token_current' then users.email_change_sent_at
        when 'phone_change_token' then users.phone_change_sent_at end + make_interval(secs =>
          case
          when one_time_tokens.relates_to like '%@%' then ?::float8
          else ?::float8 end) as expires_at
        from users
        where users.id = one_time_tokens.user_id)) > ? and coalesce((
        select details.failed_attempts
        from postern_one_time_tokens as details
        where details.token_id = one_time_tokens.id), 0) < 10)
  returning id, user_id, token_type, token_hash, relates_to), cleared as (
  update users
  set confirmation_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'confirmation_token') then ''
  else confirmation_token end, reauthentication_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'reauthentication_token') then ''
  else reauthentication_token end, recovery_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'recovery_token') then ''
  else recovery_token end, email_change_token_new =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'email_change_token_new') then ''
  else email_change_token_new end, email_change_token_current =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'email_change_token_current') then ''
  else email_change_token_current end, phone_change_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'phone_change_token') then ''
  else phone_change_token end
  where id = (
    select consumed.user_id
    from consumed
    limit 1) and ((coalesce(confirmation_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'confirmation_token')) or (coalesce(reauthentication_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'reauthentication_token')) or (coalesce(recovery_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'recovery_token')) or (coalesce(email_change_token_new, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'email_change_token_new')) or (coalesce(email_change_token_current, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'email_change_token_current')) or (coalesce(phone_change_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'phone_change_token'))))
select id, user_id, token_type, token_hash, relates_to
from consumed

with consumed as (
  delete from one_time_tokens
  where token_hash in (?) and token_type in (?) and (coalesce((
        select details.expires_at
        from postern_one_time_tokens as details
        where details.token_id = one_time_tokens.id), (
        select
        case one_time_tokens.token_type
        when 'confirmation_token' then users.confirmation_sent_at
        when 'reauthentication_token' then users.reauthentication_sent_at
        when 'recovery_token' then users.recovery_sent_at
        when 'email_change_token_new' then users.email_change_sent_at
        when 'email_change_token_current' then users.email_change_sent_at
        when 'phone_change_token' then users.phone_change_sent_at end + make_interval(secs =>
          case
          when one_time_tokens.relates_to like '%@%' then ?::float8
          else ?::float8 end) as expires_at
        from users
        where users.id = one_time_tokens.user_id)) > ? and coalesce((
        select details.failed_attempts
        from postern_one_time_tokens as details
        where details.token_id = one_time_tokens.id), 0) < 10) and not exists (
    select details.token_id
    from postern_one_time_tokens as details
    where details.token_id = one_time_tokens.id and details.purpose = ?)
  returning id, user_id, token_type, token_hash, relates_to), cleared as (
  update users
  set confirmation_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'confirmation_token') then ''
  else confirmation_token end, reauthentication_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'reauthentication_token') then ''
  else reauthentication_token end, recovery_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'recovery_token') then ''
  else recovery_token end, email_change_token_new =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'email_change_token_new') then ''
  else email_change_token_new end, email_change_token_current =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'email_change_token_current') then ''
  else email_change_token_current end, phone_change_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'phone_change_token') then ''
  else phone_change_token end
  where id = (
    select consumed.user_id
    from consumed
    limit 1) and ((coalesce(confirmation_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'confirmation_token')) or (coalesce(reauthentication_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'reauthentication_token')) or (coalesce(recovery_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'recovery_token')) or (coalesce(email_change_token_new, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'email_change_token_new')) or (coalesce(email_change_token_current, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'email_change_token_current')) or (coalesce(phone_change_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'phone_change_token'))))
select id, user_id, token_type, token_hash, relates_to
from consumed

with consumed as (
  delete from one_time_tokens
  where token_hash in (?) and token_type in (?) and (coalesce((
        select details.expires_at
        from postern_one_time_tokens as details
        where details.token_id = one_time_tokens.id), (
        select
        case one_time_tokens.token_type
        when 'confirmation_token' then users.confirmation_sent_at
        when 'reauthentication_token' then users.reauthentication_sent_at
        when 'recovery_token' then users.recovery_sent_at
        when 'email_change_token_new' then users.email_change_sent_at
        when 'email_change_token_current' then users.email_change_sent_at
        when 'phone_change_token' then users.phone_change_sent_at end + make_interval(secs =>
          case
          when one_time_tokens.relates_to like '%@%' then ?::float8
          else ?::float8 end) as expires_at
        from users
        where users.id = one_time_tokens.user_id)) > ? and coalesce((
        select details.failed_attempts
        from postern_one_time_tokens as details
        where details.token_id = one_time_tokens.id), 0) < 10) and relates_to = ?
  returning id, user_id, token_type, token_hash, relates_to), cleared as (
  update users
  set confirmation_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'confirmation_token') then ''
  else confirmation_token end, reauthentication_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'reauthentication_token') then ''
  else reauthentication_token end, recovery_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'recovery_token') then ''
  else recovery_token end, email_change_token_new =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'email_change_token_new') then ''
  else email_change_token_new end, email_change_token_current =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'email_change_token_current') then ''
  else email_change_token_current end, phone_change_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'phone_change_token') then ''
  else phone_change_token end
  where id = (
    select consumed.user_id
    from consumed
    limit 1) and ((coalesce(confirmation_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'confirmation_token')) or (coalesce(reauthentication_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'reauthentication_token')) or (coalesce(recovery_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'recovery_token')) or (coalesce(email_change_token_new, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'email_change_token_new')) or (coalesce(email_change_token_current, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'email_change_token_current')) or (coalesce(phone_change_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'phone_change_token'))))
select id, user_id, token_type, token_hash, relates_to
from consumed

with consumed as (
  delete from one_time_tokens
  where token_hash in (?) and token_type in (?...) and (coalesce((
        select details.expires_at
        from postern_one_time_tokens as details
        where details.token_id = one_time_tokens.id), (
        select
        case one_time_tokens.token_type
        when 'confirmation_token' then users.confirmation_sent_at
        when 'reauthentication_token' then users.reauthentication_sent_at
        when 'recovery_token' then users.recovery_sent_at
        when 'email_change_token_new' then users.email_change_sent_at
        when 'email_change_token_current' then users.email_change_sent_at
        when 'phone_change_token' then users.phone_change_sent_at end + make_interval(secs =>
          case
          when one_time_tokens.relates_to like '%@%' then ?::float8
          else ?::float8 end) as expires_at
        from users
        where users.id = one_time_tokens.user_id)) > ? and coalesce((
        select details.failed_attempts
        from postern_one_time_tokens as details
        where details.token_id = one_time_tokens.id), 0) < 10)
  returning id, user_id, token_type, token_hash, relates_to), cleared as (
  update users
  set confirmation_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'confirmation_token') then ''
  else confirmation_token end, reauthentication_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'reauthentication_token') then ''
  else reauthentication_token end, recovery_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'recovery_token') then ''
  else recovery_token end, email_change_token_new =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'email_change_token_new') then ''
  else email_change_token_new end, email_change_token_current =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'email_change_token_current') then ''
  else email_change_token_current end, phone_change_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'phone_change_token') then ''
  else phone_change_token end
  where id = (
    select consumed.user_id
    from consumed
    limit 1) and ((coalesce(confirmation_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'confirmation_token')) or (coalesce(reauthentication_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'reauthentication_token')) or (coalesce(recovery_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'recovery_token')) or (coalesce(email_change_token_new, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'email_change_token_new')) or (coalesce(email_change_token_current, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'email_change_token_current')) or (coalesce(phone_change_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'phone_change_token'))))
select id, user_id, token_type, token_hash, relates_to
from consumed

with consumed as (
  delete from one_time_tokens
  where token_hash in (?...) and token_type in (?) and (coalesce((
        select details.expires_at
        from postern_one_time_tokens as details
        where details.token_id = one_time_tokens.id), (
        select
        case one_time_tokens.token_type
        when 'confirmation_token' then users.confirmation_sent_at
        when 'reauthentication_token' then users.reauthentication_sent_at
        when 'recovery_token' then users.recovery_sent_at
        when 'email_change_token_new' then users.email_change_sent_at
        when 'email_change_token_current' then users.email_change_sent_at
        when 'phone_change_token' then users.phone_change_sent_at end + make_interval(secs =>
          case
          when one_time_tokens.relates_to like '%@%' then ?::float8
          else ?::float8 end) as expires_at
        from users
        where users.id = one_time_tokens.user_id)) > ? and coalesce((
        select details.failed_attempts
        from postern_one_time_tokens as details
        where details.token_id = one_time_tokens.id), 0) < 10)
  returning id, user_id, token_type, token_hash, relates_to), cleared as (
  update users
  set confirmation_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'confirmation_token') then ''
  else confirmation_token end, reauthentication_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'reauthentication_token') then ''
  else reauthentication_token end, recovery_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'recovery_token') then ''
  else recovery_token end, email_change_token_new =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'email_change_token_new') then ''
  else email_change_token_new end, email_change_token_current =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'email_change_token_current') then ''
  else email_change_token_current end, phone_change_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'phone_change_token') then ''
  else phone_change_token end
  where id = (
    select consumed.user_id
    from consumed
    limit 1) and ((coalesce(confirmation_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'confirmation_token')) or (coalesce(reauthentication_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'reauthentication_token')) or (coalesce(recovery_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'recovery_token')) or (coalesce(email_change_token_new, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'email_change_token_new')) or (coalesce(email_change_token_current, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'email_change_token_current')) or (coalesce(phone_change_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'phone_change_token'))))
select id, user_id, token_type, token_hash, relates_to
from consumed

with consumed as (
  delete from one_time_tokens
  where token_hash in (?...) and token_type in (?) and (coalesce((
        select details.expires_at
        from postern_one_time_tokens as details
        where details.token_id = one_time_tokens.id), (
        select
        case one_time_tokens.token_type
        when 'confirmation_token' then users.confirmation_sent_at
        when 'reauthentication_token' then users.reauthentication_sent_at
        when 'recovery_token' then users.recovery_sent_at
        when 'email_change_token_new' then users.email_change_sent_at
        when 'email_change_token_current' then users.email_change_sent_at
        when 'phone_change_token' then users.phone_change_sent_at end + make_interval(secs =>
          case
          when one_time_tokens.relates_to like '%@%' then ?::float8
          else ?::float8 end) as expires_at
        from users
        where users.id = one_time_tokens.user_id)) > ? and coalesce((
        select details.failed_attempts
        from postern_one_time_tokens as details
        where details.token_id = one_time_tokens.id), 0) < 10) and not exists (
    select details.token_id
    from postern_one_time_tokens as details
    where details.token_id = one_time_tokens.id and details.purpose = ?)
  returning id, user_id, token_type, token_hash, relates_to), cleared as (
  update users
  set confirmation_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'confirmation_token') then ''
  else confirmation_token end, reauthentication_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'reauthentication_token') then ''
  else reauthentication_token end, recovery_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'recovery_token') then ''
  else recovery_token end, email_change_token_new =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'email_change_token_new') then ''
  else email_change_token_new end, email_change_token_current =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'email_change_token_current') then ''
  else email_change_token_current end, phone_change_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'phone_change_token') then ''
  else phone_change_token end
  where id = (
    select consumed.user_id
    from consumed
    limit 1) and ((coalesce(confirmation_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'confirmation_token')) or (coalesce(reauthentication_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'reauthentication_token')) or (coalesce(recovery_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'recovery_token')) or (coalesce(email_change_token_new, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'email_change_token_new')) or (coalesce(email_change_token_current, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'email_change_token_current')) or (coalesce(phone_change_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'phone_change_token'))))
select id, user_id, token_type, token_hash, relates_to
from consumed

with consumed as (
  delete from one_time_tokens
  where token_hash in (?...) and token_type in (?...) and (coalesce((
        select details.expires_at
        from postern_one_time_tokens as details
        where details.token_id = one_time_tokens.id), (
        select
        case one_time_tokens.token_type
        when 'confirmation_token' then users.confirmation_sent_at
        when 'reauthentication_token' then users.reauthentication_sent_at
        when 'recovery_token' then users.recovery_sent_at
        when 'email_change_token_new' then users.email_change_sent_at
        when 'email_change_token_current' then users.email_change_sent_at
        when 'phone_change_token' then users.phone_change_sent_at end + make_interval(secs =>
          case
          when one_time_tokens.relates_to like '%@%' then ?::float8
          else ?::float8 end) as expires_at
        from users
        where users.id = one_time_tokens.user_id)) > ? and coalesce((
        select details.failed_attempts
        from postern_one_time_tokens as details
        where details.token_id = one_time_tokens.id), 0) < 10)
  returning id, user_id, token_type, token_hash, relates_to), cleared as (
  update users
  set confirmation_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'confirmation_token') then ''
  else confirmation_token end, reauthentication_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'reauthentication_token') then ''
  else reauthentication_token end, recovery_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'recovery_token') then ''
  else recovery_token end, email_change_token_new =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'email_change_token_new') then ''
  else email_change_token_new end, email_change_token_current =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'email_change_token_current') then ''
  else email_change_token_current end, phone_change_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'phone_change_token') then ''
  else phone_change_token end
  where id = (
    select consumed.user_id
    from consumed
    limit 1) and ((coalesce(confirmation_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'confirmation_token')) or (coalesce(reauthentication_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'reauthentication_token')) or (coalesce(recovery_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'recovery_token')) or (coalesce(email_change_token_new, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'email_change_token_new')) or (coalesce(email_change_token_current, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'email_change_token_current')) or (coalesce(phone_change_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'phone_change_token'))))
select id, user_id, token_type, token_hash, relates_to
from consumed

with consumed as (
  delete from one_time_tokens
  where user_id = ? and relates_to like '%@%'
  returning id, user_id, token_type, token_hash, relates_to), cleared as (
  update users
  set confirmation_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'confirmation_token') then ''
  else confirmation_token end, reauthentication_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'reauthentication_token') then ''
  else reauthentication_token end, recovery_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'recovery_token') then ''
  else recovery_token end, email_change_token_new =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'email_change_token_new') then ''
  else email_change_token_new end, email_change_token_current =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'email_change_token_current') then ''
  else email_change_token_current end, phone_change_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'phone_change_token') then ''
  else phone_change_token end
  where id = (
    select consumed.user_id
    from consumed
    limit 1) and ((coalesce(confirmation_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'confirmation_token')) or (coalesce(reauthentication_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'reauthentication_token')) or (coalesce(recovery_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'recovery_token')) or (coalesce(email_change_token_new, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'email_change_token_new')) or (coalesce(email_change_token_current, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'email_change_token_current')) or (coalesce(phone_change_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'phone_change_token'))))
select id, user_id, token_type, token_hash, relates_to
from consumed

with consumed as (
  delete from one_time_tokens
  where user_id = ? and relates_to not like '%@%'
  returning id, user_id, token_type, token_hash, relates_to), cleared as (
  update users
  set confirmation_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'confirmation_token') then ''
  else confirmation_token end, reauthentication_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'reauthentication_token') then ''
  else reauthentication_token end, recovery_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'recovery_token') then ''
  else recovery_token end, email_change_token_new =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'email_change_token_new') then ''
  else email_change_token_new end, email_change_token_current =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'email_change_token_current') then ''
  else email_change_token_current end, phone_change_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'phone_change_token') then ''
  else phone_change_token end
  where id = (
    select consumed.user_id
    from consumed
    limit 1) and ((coalesce(confirmation_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'confirmation_token')) or (coalesce(reauthentication_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'reauthentication_token')) or (coalesce(recovery_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'recovery_token')) or (coalesce(email_change_token_new, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'email_change_token_new')) or (coalesce(email_change_token_current, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'email_change_token_current')) or (coalesce(phone_change_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'phone_change_token'))))
select id, user_id, token_type, token_hash, relates_to
from consumed

with consumed as (
  delete from one_time_tokens
  where user_id = ? and token_type in (?)
  returning id, user_id, token_type, token_hash, relates_to), cleared as (
  update users
  set confirmation_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'confirmation_token') then ''
  else confirmation_token end, reauthentication_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'reauthentication_token') then ''
  else reauthentication_token end, recovery_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'recovery_token') then ''
  else recovery_token end, email_change_token_new =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'email_change_token_new') then ''
  else email_change_token_new end, email_change_token_current =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'email_change_token_current') then ''
  else email_change_token_current end, phone_change_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'phone_change_token') then ''
  else phone_change_token end
  where id = (
    select consumed.user_id
    from consumed
    limit 1) and ((coalesce(confirmation_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'confirmation_token')) or (coalesce(reauthentication_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'reauthentication_token')) or (coalesce(recovery_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'recovery_token')) or (coalesce(email_change_token_new, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'email_change_token_new')) or (coalesce(email_change_token_current, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'email_change_token_current')) or (coalesce(phone_change_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'phone_change_token'))))
select id, user_id, token_type, token_hash, relates_to
from consumed

with consumed as (
  delete from one_time_tokens
  where user_id = ? and token_type in (?...)
  returning id, user_id, token_type, token_hash, relates_to), cleared as (
  update users
  set confirmation_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'confirmation_token') then ''
  else confirmation_token end, reauthentication_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'reauthentication_token') then ''
  else reauthentication_token end, recovery_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'recovery_token') then ''
  else recovery_token end, email_change_token_new =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'email_change_token_new') then ''
  else email_change_token_new end, email_change_token_current =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'email_change_token_current') then ''
  else email_change_token_current end, phone_change_token =
  case
  when exists (
    select
    from consumed
    where consumed.user_id = users.id and consumed.token_type = 'phone_change_token') then ''
  else phone_change_token end
  where id = (
    select consumed.user_id
    from consumed
    limit 1) and ((coalesce(confirmation_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'confirmation_token')) or (coalesce(reauthentication_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'reauthentication_token')) or (coalesce(recovery_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'recovery_token')) or (coalesce(email_change_token_new, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'email_change_token_new')) or (coalesce(email_change_token_current, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'email_change_token_current')) or (coalesce(phone_change_token, '') <> '' and exists (
        select
        from consumed
        where consumed.user_id = users.id and consumed.token_type = 'phone_change_token'))))
select id, user_id, token_type, token_hash, relates_to
from consumed

with live as (
  select id, user_id, token_type, token_hash, relates_to
  from one_time_tokens
  where relates_to = ? and token_type in (?) and user_id = any(?::uuid[]) and (coalesce((
        select details.expires_at
        from postern_one_time_tokens as details
        where details.token_id = one_time_tokens.id), (
        select
        case one_time_tokens.token_type
        when 'confirmation_token' then users.confirmation_sent_at
        when 'reauthentication_token' then users.reauthentication_sent_at
        when 'recovery_token' then users.recovery_sent_at
        when 'email_change_token_new' then users.email_change_sent_at
        when 'email_change_token_current' then users.email_change_sent_at
        when 'phone_change_token' then users.phone_change_sent_at end + make_interval(secs =>
          case
          when one_time_tokens.relates_to like '%@%' then ?::float8
          else ?::float8 end) as expires_at
        from users
        where users.id = one_time_tokens.user_id)) > ? and coalesce((
        select details.failed_attempts
        from postern_one_time_tokens as details
        where details.token_id = one_time_tokens.id), 0) < 10) and not exists (
    select details.token_id
    from postern_one_time_tokens as details
    where details.token_id = one_time_tokens.id and details.purpose = ?)), counted as (
  insert into postern_one_time_tokens (token_id, failed_attempts)
  select live.id as token_id, 1 as tries
  from live
  on conflict (token_id) do update
  set failed_attempts = postern_one_time_tokens.failed_attempts + 1
  where postern_one_time_tokens.failed_attempts < ?
  returning token_id as id), dummy as (
  update postern_decoy_tokens
  set failed_attempts = failed_attempts + 1
  where slot = ? and not exists (
    select counted.id
    from counted))
select live.id, live.user_id, live.token_type, live.token_hash, live.relates_to
from live
inner join counted on counted.id = live.id

with live as (
  select id, user_id, token_type, token_hash, relates_to
  from one_time_tokens
  where relates_to = ? and token_type in (?) and user_id = any(?::uuid[]) and (coalesce((
        select details.expires_at
        from postern_one_time_tokens as details
        where details.token_id = one_time_tokens.id), (
        select
        case one_time_tokens.token_type
        when 'confirmation_token' then users.confirmation_sent_at
        when 'reauthentication_token' then users.reauthentication_sent_at
        when 'recovery_token' then users.recovery_sent_at
        when 'email_change_token_new' then users.email_change_sent_at
        when 'email_change_token_current' then users.email_change_sent_at
        when 'phone_change_token' then users.phone_change_sent_at end + make_interval(secs =>
          case
          when one_time_tokens.relates_to like '%@%' then ?::float8
          else ?::float8 end) as expires_at
        from users
        where users.id = one_time_tokens.user_id)) > ? and coalesce((
        select details.failed_attempts
        from postern_one_time_tokens as details
        where details.token_id = one_time_tokens.id), 0) < 10)), counted as (
  insert into postern_one_time_tokens (token_id, failed_attempts)
  select live.id as token_id, 1 as tries
  from live
  on conflict (token_id) do update
  set failed_attempts = postern_one_time_tokens.failed_attempts + 1
  where postern_one_time_tokens.failed_attempts < ?
  returning token_id as id), dummy as (
  update postern_decoy_tokens
  set failed_attempts = failed_attempts + 1
  where slot = ? and not exists (
    select counted.id
    from counted))
select live.id, live.user_id, live.token_type, live.token_hash, live.relates_to
from live
inner join counted on counted.id = live.id

with live as (
  select id, user_id, token_type, token_hash, relates_to
  from one_time_tokens
  where relates_to = ? and token_type in (?...) and user_id = any(?::uuid[]) and (coalesce((
        select details.expires_at
        from postern_one_time_tokens as details
        where details.token_id = one_time_tokens.id), (
        select
        case one_time_tokens.token_type
        when 'confirmation_token' then users.confirmation_sent_at
        when 'reauthentication_token' then users.reauthentication_sent_at
        when 'recovery_token' then users.recovery_sent_at
        when 'email_change_token_new' then users.email_change_sent_at
        when 'email_change_token_current' then users.email_change_sent_at
        when 'phone_change_token' then users.phone_change_sent_at end + make_interval(secs =>
          case
          when one_time_tokens.relates_to like '%@%' then ?::float8
          else ?::float8 end) as expires_at
        from users
        where users.id = one_time_tokens.user_id)) > ? and coalesce((
        select details.failed_attempts
        from postern_one_time_tokens as details
        where details.token_id = one_time_tokens.id), 0) < 10)), counted as (
  insert into postern_one_time_tokens (token_id, failed_attempts)
  select live.id as token_id, 1 as tries
  from live
  on conflict (token_id) do update
  set failed_attempts = postern_one_time_tokens.failed_attempts + 1
  where postern_one_time_tokens.failed_attempts < ?
  returning token_id as id), dummy as (
  update postern_decoy_tokens
  set failed_attempts = failed_attempts + 1
  where slot = ? and not exists (
    select counted.id
    from counted))
select live.id, live.user_id, live.token_type, live.token_hash, live.relates_to
from live
inner join counted on counted.id = live.id

with owners as (
  select locked.id
  from (
    select distinct user_id as id
    from one_time_tokens
    where relates_to in (?) and token_type in (?) and (coalesce((
          select details.expires_at
          from postern_one_time_tokens as details
          where details.token_id = one_time_tokens.id), (
          select
          case one_time_tokens.token_type
          when 'confirmation_token' then users.confirmation_sent_at
          when 'reauthentication_token' then users.reauthentication_sent_at
          when 'recovery_token' then users.recovery_sent_at
          when 'email_change_token_new' then users.email_change_sent_at
          when 'email_change_token_current' then users.email_change_sent_at
          when 'phone_change_token' then users.phone_change_sent_at end + make_interval(secs =>
            case
            when one_time_tokens.relates_to like '%@%' then ?::float8
            else ?::float8 end) as expires_at
          from users
          where users.id = one_time_tokens.user_id)) > ? and coalesce((
          select details.failed_attempts
          from postern_one_time_tokens as details
          where details.token_id = one_time_tokens.id), 0) < 10)
    order by user_id) as requested
  inner join lateral (
    select users.id
    from users
    where users.id = requested.id
    for update) as locked on true), dummy as (
  select null::uuid as id
  from postern_decoy_tokens
  where slot = ? and not exists (
    select owners.id
    from owners)
  for update)
select owners.id as id
from owners
union all
select dummy.id
from dummy

with owners as (
  select locked.id
  from (
    select distinct user_id as id
    from one_time_tokens
    where relates_to in (?) and token_type in (?) and (coalesce((
          select details.expires_at
          from postern_one_time_tokens as details
          where details.token_id = one_time_tokens.id), (
          select
          case one_time_tokens.token_type
          when 'confirmation_token' then users.confirmation_sent_at
          when 'reauthentication_token' then users.reauthentication_sent_at
          when 'recovery_token' then users.recovery_sent_at
          when 'email_change_token_new' then users.email_change_sent_at
          when 'email_change_token_current' then users.email_change_sent_at
          when 'phone_change_token' then users.phone_change_sent_at end + make_interval(secs =>
            case
            when one_time_tokens.relates_to like '%@%' then ?::float8
            else ?::float8 end) as expires_at
          from users
          where users.id = one_time_tokens.user_id)) > ? and coalesce((
          select details.failed_attempts
          from postern_one_time_tokens as details
          where details.token_id = one_time_tokens.id), 0) < 10) and not exists (
      select details.token_id
      from postern_one_time_tokens as details
      where details.token_id = one_time_tokens.id and details.purpose = ?)
    order by user_id) as requested
  inner join lateral (
    select users.id
    from users
    where users.id = requested.id
    for update) as locked on true), dummy as (
  select null::uuid as id
  from postern_decoy_tokens
  where slot = ? and not exists (
    select owners.id
    from owners)
  for update)
select owners.id as id
from owners
union all
select dummy.id
from dummy

with owners as (
  select locked.id
  from (
    select distinct user_id as id
    from one_time_tokens
    where relates_to in (?) and token_type in (?...) and (coalesce((
          select details.expires_at
          from postern_one_time_tokens as details
          where details.token_id = one_time_tokens.id), (
          select
          case one_time_tokens.token_type
          when 'confirmation_token' then users.confirmation_sent_at
          when 'reauthentication_token' then users.reauthentication_sent_at
          when 'recovery_token' then users.recovery_sent_at
          when 'email_change_token_new' then users.email_change_sent_at
          when 'email_change_token_current' then users.email_change_sent_at
          when 'phone_change_token' then users.phone_change_sent_at end + make_interval(secs =>
            case
            when one_time_tokens.relates_to like '%@%' then ?::float8
            else ?::float8 end) as expires_at
          from users
          where users.id = one_time_tokens.user_id)) > ? and coalesce((
          select details.failed_attempts
          from postern_one_time_tokens as details
          where details.token_id = one_time_tokens.id), 0) < 10)
    order by user_id) as requested
  inner join lateral (
    select users.id
    from users
    where users.id = requested.id
    for update) as locked on true), dummy as (
  select null::uuid as id
  from postern_decoy_tokens
  where slot = ? and not exists (
    select owners.id
    from owners)
  for update)
select owners.id as id
from owners
union all
select dummy.id
from dummy

with put as (
  insert into one_time_tokens (id, user_id, token_type, token_hash, relates_to, created_at, updated_at)
  values (gen_random_uuid(), ?...)
  on conflict (user_id, token_type) do update
  set token_hash = excluded.token_hash, relates_to = excluded.relates_to, created_at = excluded.created_at, updated_at = excluded.updated_at
  returning id)
insert into postern_one_time_tokens (token_id, expires_at, failed_attempts, purpose)
select put.id as token_id, ?::timestamptz as expires_at, 0 as failed_attempts, ?::text as purpose
from put
on conflict (token_id) do update
set expires_at = excluded.expires_at, failed_attempts = 0, purpose = excluded.purpose, made_by = null

with put as (
  insert into one_time_tokens (id, user_id, token_type, token_hash, relates_to, created_at, updated_at)
  values (gen_random_uuid(), ?...)
  on conflict (user_id, token_type) do update
  set token_hash = excluded.token_hash, relates_to = excluded.relates_to, created_at = excluded.created_at, updated_at = excluded.updated_at
  returning id), mirror as (
  update users
  set confirmation_token =
  case
  when ?::text = 'confirmation_token' then ?::text
  else confirmation_token end, reauthentication_token =
  case
  when ?::text = 'reauthentication_token' then ?::text
  else reauthentication_token end, recovery_token =
  case
  when ?::text = 'recovery_token' then ?::text
  else recovery_token end, email_change_token_new =
  case
  when ?::text = 'email_change_token_new' then ?::text
  else email_change_token_new end, email_change_token_current =
  case
  when ?::text = 'email_change_token_current' then ?::text
  else email_change_token_current end, phone_change_token =
  case
  when ?::text = 'phone_change_token' then ?::text
  else phone_change_token end, confirmation_sent_at =
  case
  when ?::text = 'confirmation_token' then ?
  else confirmation_sent_at end, reauthentication_sent_at =
  case
  when ?::text = 'reauthentication_token' then ?
  else reauthentication_sent_at end, recovery_sent_at =
  case
  when ?::text = 'recovery_token' then ?
  else recovery_sent_at end, email_change_sent_at =
  case
  when ?::text = 'email_change_token_new' or ?::text = 'email_change_token_current' then ?
  else email_change_sent_at end, phone_change_sent_at =
  case
  when ?::text = 'phone_change_token' then ?
  else phone_change_sent_at end
  where id = ?)
insert into postern_one_time_tokens (token_id, expires_at, failed_attempts, purpose)
select put.id as token_id, ?::timestamptz as expires_at, 0 as failed_attempts, ?::text as purpose
from put
on conflict (token_id) do update
set expires_at = excluded.expires_at, failed_attempts = 0, purpose = excluded.purpose, made_by = null
