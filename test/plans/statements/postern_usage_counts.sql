insert into postern_usage_counts (kind, name, outcome, hour, count)
values (?...)
on conflict (hour, kind, name, outcome) do update
set count = postern_usage_counts.count + excluded.count

insert into postern_usage_counts (kind, name, outcome, hour, count)
values (?...), ...
on conflict (hour, kind, name, outcome) do update
set count = postern_usage_counts.count + excluded.count

select (floor(extract(epoch from hour) / 21600) * 21600)::float8 as at, kind, name, outcome, sum(count)::float8 as count
from postern_usage_counts
where hour >= ?
group by 1, kind, name, outcome
order by kind, name, outcome

select (floor(extract(epoch from hour) / 3600) * 3600)::float8 as at, kind, name, outcome, sum(count)::float8 as count
from postern_usage_counts
where hour >= ?
group by 1, kind, name, outcome
order by kind, name, outcome

select (floor(extract(epoch from hour) / 86400) * 86400)::float8 as at, kind, name, outcome, sum(count)::float8 as count
from postern_usage_counts
where hour >= ?
group by 1, kind, name, outcome
order by kind, name, outcome
