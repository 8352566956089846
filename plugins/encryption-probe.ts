/**
 * Holds the configured keys against what is stored, once at each start: with a wrong key the server would run, and refuse
 * people one by one.
 */
import { findProbe, putProbe } from '../db/encryption-probe.ts'
import { someFactorSecrets } from '../db/factors-admin.ts'
import { samplePasswordHashes } from '../db/password-sample.ts'
import { defineExtension, type House } from './define-plugin.ts'
import { DecryptionError } from './encryption.ts'

type ProbeHouse = House<'config' | 'db' | 'encryption' | 'log' | 'takeover'>

/** Nobody should have to part the two secrets later: the one that signs changes more often than what is stored. */
export class NoEncryptionKeyError extends Error {
  override name = 'NoEncryptionKeyError'

  constructor() {
    super(
      'AUTH_ENCRYPTION_KEY is not set, and this database is new: give it a key of its own, which `npm run secrets` ' +
        'writes into .env, or 32 random bytes as base64url.',
    )
  }
}

/** The row that holds the value, and what the value says. */
export const probe = { id: '7f6e1d52-4a07-4f0c-9f0e-1d0b8f1f5a36', text: 'postern' }

/** Enough to tell whether the key is there; one unreadable row among others is no reason not to start. */
const sampledPages = 20
const sampledFactors = 20

/** Throws DecryptionError and NoEncryptionKeyError. */
async function check(house: ProbeHouse): Promise<void> {
  const { config, db, encryption, takeover } = house
  checkSample(house, await samplePasswordHashes(db, sampledPages), 'The password of a person')
  checkSample(house, await someFactorSecrets(db, sampledFactors), 'The secret of a second factor')
  const stored = await findProbe(db, probe.id)
  if (stored !== undefined) encryption.decrypt(probe.id, stored, 'What this database holds')
  if (stored !== undefined && encryption.isCurrent(stored)) return
  const isKeyless = !config.AUTH_ENCRYPTION_KEY && !config.dev
  // What GoTrue's environment lacks is no reason not to take its database over.
  if (isKeyless && stored === undefined && !takeover.isShared) throw new NoEncryptionKeyError()
  await putProbe(db, probe.id, encryption.encrypt(probe.id, probe.text), stored)
}

/** Throws DecryptionError when none of the values that are encrypted can be read. */
function checkSample(
  { encryption, log }: ProbeHouse,
  rows: readonly { id: string; value: string }[],
  what: string,
): void {
  const encrypted = rows.filter(({ value }) => encryption.isEncrypted(value))
  const faults = encrypted.flatMap(({ id, value }) => faultOf(encryption, id, value, what) ?? [])
  const [fault] = faults
  if (!fault) return
  if (faults.length === encrypted.length) throw fault
  log.error({ err: fault, unreadable: faults.length, of: encrypted.length }, 'a key is missing')
}

function faultOf(
  encryption: ProbeHouse['encryption'],
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

export default defineExtension({
  name: 'encryption-probe',
  needs: ['config', 'db', 'encryption', 'log', 'takeover', 'addHook'],
  install(house) {
    house.addHook('onReady', () => check(house))
  },
})
