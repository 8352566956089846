/** Hooks as functions of the database, in a schema of the operator. */
import { sql } from 'kysely'

import type { App } from '../server.ts'
import { hookEnv } from './hook-receiver.ts'

/** Variables that point a hook at a function below. */
export const functionEnv = (hook: string, name: string) =>
  hookEnv(`pg-functions://postgres/operator/${name}`, [hook])

/** Creates the function; `body` is PL/pgSQL with `event` as its input. */
export async function makeFunction(app: App, name: string, body: string): Promise<void> {
  await sql`create schema if not exists operator`.execute(app.db)
  await sql
    .raw(`create or replace function operator.${name}(event jsonb) returns jsonb language plpgsql as $body$
${body}
$body$`)
    .execute(app.db)
}

/** A table in which functions record their calls. */
export async function makeNotes(app: App): Promise<void> {
  await sql`create schema if not exists operator`.execute(app.db)
  await sql`create table operator.notes (id serial, event jsonb)`.execute(app.db)
}

export async function readNotes(app: App): Promise<Record<string, unknown>[]> {
  const { rows } = await sql<{ event: Record<string, unknown> }>`
    select event from operator.notes order by id
  `.execute(app.db)
  return rows.map(({ event }) => event)
}
