drop table if exists public.example_notes;

create table public.example_notes (
  id bigint generated always as identity primary key,
  owner uuid not null default auth.uid() references auth.users (id) on delete cascade,
  body text not null
);
create index on public.example_notes (owner);

-- From here on, a row is visible only if a policy permits it.
alter table public.example_notes enable row level security;
grant select, insert, update, delete on public.example_notes to authenticated;

create policy "users have their own notes" on public.example_notes
  for all to authenticated
  using (owner = (select auth.uid()))
  with check (owner = (select auth.uid()));
