/**
 * Verifies the configured keys against stored values at each start: with a wrong key the server would start, and then
 * fail for each user.
 */
import { someFactorSecrets } from '../../db/factors/admin.ts'
import { findProbe, upsertProbe } from '../../db/keys/encryption.ts'
import { samplePasswordHashes } from '../../db/users/password-hashes.ts'
import { type Deps, defineHooksPlugin } from '../define-plugin.ts'
import { DecryptionError } from './encryption/index.ts'

type ProbeDeps = Deps<'db' | 'encryption' | 'log'>

/** The row that stores the probe, and its plain text. */
export const probe = { id: '7f6e1d52-4a07-4f0c-9f0e-1d0b8f1f5a36', text: 'postern' }

/** Enough rows to detect a missing key; one unreadable row does not stop the start. */
const sampledPages = 20
const sampledFactors = 20

/** Throws DecryptionError. */
async function check(deps: ProbeDeps): Promise<void> {
  const { db, encryption } = deps
  checkSample(deps, await samplePasswordHashes(db, sampledPages), 'The password of a user')
  checkSample(deps, await someFactorSecrets(db, sampledFactors), 'The secret of a second factor')
  const stored = await findProbe(db, probe.id)
  if (stored !== undefined) encryption.decrypt(probe.id, stored, 'The stored data')
  if (stored !== undefined && encryption.isCurrent(stored)) return
  await upsertProbe(db, probe.id, encryption.encrypt(probe.id, probe.text), stored)
}

/** Throws DecryptionError when none of the encrypted values can be decrypted. */
function checkSample(
  { encryption, log }: ProbeDeps,
  rows: readonly { id: string; value: string }[],
  what: string,
): void {
  const encrypted = rows.filter(({ value }) => encryption.isEncrypted(value))
  const faults = encrypted.flatMap(({ id, value }) => findError(encryption, id, value, what) ?? [])
  const [fault] = faults
  if (!fault) return
  if (faults.length === encrypted.length) throw fault
  log.error(
    { err: fault, unreadable: faults.length, of: encrypted.length },
    'encryption key missing',
  )
}

function findError(
  encryption: ProbeDeps['encryption'],
  id: string,
  value: string,
  what: string,
): DecryptionError | undefined {
  try {
    encryption.decrypt(id, value, what)
    return undefined
  } catch (error) {
    if (error instanceof DecryptionError) return error
    throw error
  }
}

export default defineHooksPlugin({
  name: 'encryption-probe',
  deps: ['db', 'encryption', 'log', 'addHook'],
  install(deps) {
    deps.addHook('onReady', () => check(deps))
  },
})
