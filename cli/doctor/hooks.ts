/** Checks the database functions of hooks: without one, every request with the hook fails. */
import { hookNames } from '../../config/groups/hooks.ts'
import { findHookFunction } from '../shared/hook-function.ts'
import { type DoctorContext, type DoctorFinding, fail, pass } from './finding.ts'

export async function checkHooks({ config, db }: DoctorContext): Promise<DoctorFinding[]> {
  const findings = hookNames.flatMap((hook) => {
    const variable = `AUTH_HOOK_${hook}_URI` as const
    const uri = URL.parse(config[variable] ?? '')
    if (!config[`AUTH_HOOK_${hook}_ENABLED`] || uri?.protocol !== 'pg-functions:') return []
    return [checkFunction(db, variable, uri)]
  })
  return Promise.all(findings)
}

async function checkFunction(
  db: DoctorContext['db'],
  variable: string,
  uri: URL,
): Promise<DoctorFinding> {
  const { called, login, state } = await findHookFunction(db, uri)
  if (state === 'missing') {
    return fail(
      `${variable} names the function ${called}, which does not exist with a jsonb argument: create it, or correct the name.`,
    )
  }
  if (state === 'denied') {
    return fail(
      `The login ${login} may not call the function ${called} of ${variable}: grant usage on its schema and execute on the function (docs/hooks.md).`,
    )
  }
  return pass(`The function ${called} of ${variable} may be called.`)
}
