/** Checks the enabled hooks, and whether database functions among them can be called. */
import { hookNames } from '../../config/groups/hooks.ts'
import type { Config } from '../../config/groups/index.ts'
import type { Db } from '../../db/core/database.ts'
import { findHookFunction } from '../shared/hook-function.ts'
import { ok, stop, type TakeoverFinding } from './finding.ts'

/** Shows only the host of a URL: the rest may contain a secret. */
export async function hooksInUse(db: Db, config: Config): Promise<TakeoverFinding[]> {
  const findings: TakeoverFinding[] = []
  for (const name of hookNames) {
    const uri = config[`AUTH_HOOK_${name}_URI`]
    if (!config[`AUTH_HOOK_${name}_ENABLED`] || !uri) continue
    const address = new URL(uri)
    findings.push(
      address.protocol === 'pg-functions:'
        ? await functionHook(db, name, address)
        : ok(`The hook ${name} is called at ${address.host}.`),
    )
  }
  return findings
}

async function functionHook(db: Db, name: string, uri: URL): Promise<TakeoverFinding> {
  const { called, login, state } = await findHookFunction(db, uri)
  if (state === 'callable') return ok(`The hook ${name} calls ${called}.`)
  return stop(
    `The hook ${name} calls ${called}, which does not exist with a jsonb argument or may not be called: create it, or "grant execute on function ${called} to ${login};"`,
  )
}
