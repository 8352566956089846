import { hasTable } from '../../db/gotrue-database.ts'
import { listSigningKeys, type SigningKeyRow } from '../../db/signing-keys.ts'
import type { Surroundings } from './finding.ts'

/** Undefined when no start has made one yet, or the database does not answer, which its own check tells. */
export async function currentKey({ config, db }: Surroundings): Promise<SigningKeyRow | undefined> {
  try {
    if (!(await hasTable(db, config.AUTH_DB_NAMESPACE, 'postern_signing_keys'))) return undefined
    return (await listSigningKeys(db)).find(({ state }) => state === 'current')
  } catch {
    return undefined
  }
}
