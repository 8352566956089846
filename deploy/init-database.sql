-- What the containers' Postgres runs once, when its data folder is new: the roles of the other containers, each with
-- just the rights it needs. Later it does nothing; docs/operations.md says how to change a password.
\getenv server_password POSTERN_PASSWORD
\getenv rest_password AUTHENTICATOR_PASSWORD

-- The server. It owns two schemas, migrates what is in them, and has no business anywhere else: no right to create
-- schemas, databases or roles.
create role postern login nosuperuser nocreatedb nocreaterole noreplication nobypassrls password :'server_password';
create schema auth authorization postern;
create schema auth_jobs authorization postern;

-- What the migrations would make if they were allowed to: an index for the search of users, and the roles that a
-- REST interface switches to.
create extension if not exists pg_trgm with schema public;
create role anon nologin noinherit;
create role authenticated nologin noinherit;
create role service_role nologin noinherit bypassrls;

-- The REST interface (docker compose --profile rest): the role anon until a token names another one.
create role authenticator login noinherit password :'rest_password';
grant anon, authenticated, service_role to authenticator;
