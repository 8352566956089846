insert into postern_factors (factor_id, last_step)
values (?...)
on conflict (factor_id) do update
set last_step = ?
where coalesce(postern_factors.last_step, -1) < ?
returning factor_id
