/** Checks the enabled hooks, and whether database functions among them can be called. */
import { sql } from 'kysely'

import { hookNames } from '../../config/groups/hooks.ts'
import type { Config } from '../../config/groups/index.ts'
import type { Db } from '../../db/core/database.ts'
import { ok, stop, type TakeoverFinding } from './finding.ts'

/** Shows only the host of a URL: the rest may contain a secret. */
export async function hooksInUse(db: Db, config: Config): Promise<TakeoverFinding[]> {
  const findings: TakeoverFinding[] = []
  for (const name of hookNames) {
    const uri = config[`AUTH_HOOK_${name}_URI`]
    if (!config[`AUTH_HOOK_${name}_ENABLED`] || !uri) continue
    const { protocol, host, pathname } = new URL(uri)
    findings.push(
      protocol === 'pg-functions:'
        ? await functionHook(db, name, pathname)
        : ok(`The hook ${name} is called at ${host}.`),
    )
  }
  return findings
}

async function functionHook(db: Db, name: string, path: string): Promise<TakeoverFinding> {
  const [schema = '', hook = ''] = path.slice(1).split('/').map(decodeURIComponent)
  const { rows } = await sql<{ login: string; callable: boolean }>`
    select current_user as login, exists (
      select from pg_proc join pg_namespace on pg_namespace.oid = pronamespace
      where nspname = ${schema} and proname = ${hook}
        and pronargs - pronargdefaults <= 1 and proargtypes[0] in ('jsonb'::regtype, 'json'::regtype)
        and has_function_privilege(pg_proc.oid, 'execute')
        and has_schema_privilege(pg_namespace.oid, 'usage')
    ) as callable`.execute(db)
  const called = `${schema}.${hook}`
  if (rows[0]?.callable) return ok(`The hook ${name} calls ${called}.`)
  return stop(
    `The hook ${name} calls ${called}, which does not exist with a jsonb argument or may not be called: create it, or "grant execute on function ${called} to ${rows[0]?.login};"`,
  )
}
