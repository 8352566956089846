import { hasTable } from '../../db/gotrue/database.ts'
import { listSigningKeys, type SigningKeyRow } from '../../db/keys/signing-keys.ts'
import type { DoctorContext } from './finding.ts'

/** Undefined before the first start, or when the database is unavailable, which has a separate check. */
export async function checkCurrentKey({
  config,
  db,
}: DoctorContext): Promise<SigningKeyRow | undefined> {
  try {
    if (!(await hasTable(db, config.AUTH_DB_NAMESPACE, 'postern_signing_keys'))) return undefined
    return (await listSigningKeys(db)).find(({ state }) => state === 'current')
  } catch {
    return undefined
  }
}
