/** The hooks that are switched on, and whether the functions among them can be called. */
import { sql } from 'kysely'

import type { Db } from '../../db/database.ts'
import type { Config } from '../../plugins/config/config.ts'
import { hookNames } from '../../plugins/config/groups/hooks.ts'
import { type Finding, ok, stop } from './finding.ts'

/** Of an address only the host is shown: the rest may hold a secret. */
export async function hooksInUse(db: Db, config: Config): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const name of hookNames) {
    const uri = config[`AUTH_HOOK_${name}_URI`]
    if (!config[`AUTH_HOOK_${name}_ENABLED`] || !uri) continue
    const { protocol, host, pathname } = new URL(uri)
    findings.push(
      protocol === 'pg-functions:'
        ? await functionHook(db, name, pathname)
        : ok(`The hook ${name} is asked at ${host}.`),
    )
  }
  return findings
}

async function functionHook(db: Db, name: string, path: string): Promise<Finding> {
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
    `The hook ${name} calls ${called}, which takes no jsonb here or may not be called: make it, or "grant execute on function ${called} to ${rows[0]?.login};"`,
  )
}
