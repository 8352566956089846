-- The Postgres container runs this once, when its data folder is new. It creates the roles of the other containers, each
-- with the rights that it needs. docs/operations.md says how to change a password later.
\getenv server_password POSTERN_PASSWORD
\getenv rest_password AUTHENTICATOR_PASSWORD

-- The server. It owns two schemas and migrates them. It has no right to create schemas, databases or roles.
create role postern login nosuperuser nocreatedb nocreaterole noreplication nobypassrls password :'server_password';
create schema auth authorization postern;
create schema auth_jobs authorization postern;

-- The migrations would create these if they had the right: an extension for the search of users, and the roles that a
-- REST interface switches to.
create extension if not exists pg_trgm with schema public;
create role anon nologin noinherit;
create role authenticated nologin noinherit;
create role service_role nologin noinherit bypassrls;

-- The REST interface (docker compose --profile rest). Requests without a token have the role anon.
create role authenticator login noinherit password :'rest_password';
grant anon, authenticated, service_role to authenticator;
