/** Checks whether the database functions of hooks exist and may be called: without one, every request with the hook fails. */
import { sql } from 'kysely'

import { hookNames } from '../../config/groups/hooks.ts'
import type { Config } from '../../config/groups/index.ts'
import { type DoctorContext, type DoctorFinding, fail, pass } from './finding.ts'

interface HookFunction {
  variable: string
  schema: string
  name: string
}

export async function hooks({ config, db }: DoctorContext): Promise<DoctorFinding[]> {
  return Promise.all(listFunctions(config).map((hook) => checkFunction(db, hook)))
}

function listFunctions(config: Config): HookFunction[] {
  return hookNames.flatMap((hook) => {
    const variable = `AUTH_HOOK_${hook}_URI` as const
    const uri = URL.parse(config[variable] ?? '')
    if (!config[`AUTH_HOOK_${hook}_ENABLED`] || uri?.protocol !== 'pg-functions:') return []
    const [schema = '', name = ''] = uri.pathname.slice(1).split('/').map(decodeURIComponent)
    return [{ variable, schema, name }]
  })
}

async function checkFunction(
  db: DoctorContext['db'],
  { variable, schema, name }: HookFunction,
): Promise<DoctorFinding> {
  const { rows } = await sql<{ isCallable: boolean; login: string }>`
    select current_user as login, has_schema_privilege(pg_namespace.oid, 'usage')
      and has_function_privilege(pg_proc.oid, 'execute') as "isCallable"
    from pg_proc join pg_namespace on pg_namespace.oid = pronamespace
    where nspname = ${schema} and proname = ${name} and pronargs = 1`.execute(db)
  const [found] = rows
  const called = `${schema}.${name}`
  if (!found) {
    return fail(
      `${variable} names the function ${called}, which does not exist with one argument: create it, or correct the name.`,
    )
  }
  if (!rows.some(({ isCallable }) => isCallable)) {
    return fail(
      `The login ${found.login} may not call the function ${called} of ${variable}: grant usage on schema ${schema} and execute on the function (docs/hooks.md).`,
    )
  }
  return pass(`The function ${called} of ${variable} may be called.`)
}
