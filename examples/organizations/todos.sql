-- Todos of organizations: members of the active organization see its rows, and permissions decide who writes.
create table if not exists public.example_todos (
  id bigint generated always as identity primary key,
  organization_id uuid not null default auth.org_id(),
  title text not null,
  done boolean not null default false,
  created_by uuid not null default auth.uid()
);
create index if not exists example_todos_organization_idx on public.example_todos (organization_id);

alter table public.example_todos enable row level security;
grant usage on schema public to authenticated;
grant select, insert, update, delete on public.example_todos to authenticated;

-- A function in a subselect is called once for each statement and not once for each row.
drop policy if exists read_own on public.example_todos;
create policy read_own on public.example_todos for select to authenticated
  using (organization_id = (select auth.org_id()));

drop policy if exists add_own on public.example_todos;
create policy add_own on public.example_todos for insert to authenticated
  with check (
    organization_id = (select auth.org_id()) and (select auth.has_permission('todos:write'))
  );

drop policy if exists change_own on public.example_todos;
create policy change_own on public.example_todos for update to authenticated
  using (organization_id = (select auth.org_id()) and (select auth.has_permission('todos:write')))
  with check (organization_id = (select auth.org_id()));

-- Deleting checks the current membership: a removed member's token is valid until it expires.
drop policy if exists delete_own on public.example_todos;
create policy delete_own on public.example_todos for delete to authenticated
  using (
    organization_id = (select auth.org_id())
    and (select auth.has_permission('todos:delete'))
    and (select auth.is_member((select auth.org_id())))
  );
