/** Whether the database function of a hook exists and may be called. */
import { sql } from 'kysely'

import type { Db } from '../../db/core/database.ts'

interface HookFunction {
  /** Schema and name. */
  called: string
  login: string
  state: 'missing' | 'denied' | 'callable'
}

/** Looks up the function that a `pg-functions:` URI names. */
export async function findHookFunction(db: Db, { pathname }: URL): Promise<HookFunction> {
  const [schema = '', name = ''] = pathname.slice(1).split('/').map(decodeURIComponent)
  const { rows } = await sql<{ login: string; callable: boolean | null }>`
    select current_user as login, (
      select bool_or(has_function_privilege(pg_proc.oid, 'execute')
        and has_schema_privilege(pg_namespace.oid, 'usage'))
      from pg_proc join pg_namespace on pg_namespace.oid = pronamespace
      where nspname = ${schema} and proname = ${name}
        and pronargs - pronargdefaults <= 1 and proargtypes[0] in ('jsonb'::regtype, 'json'::regtype)
    ) as callable`.execute(db)
  const { login = '', callable = null } = rows[0] ?? {}
  const state = callable === null ? 'missing' : callable ? 'callable' : 'denied'
  return { called: `${schema}.${name}`, login, state }
}
