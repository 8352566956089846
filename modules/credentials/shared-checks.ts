/** Concurrent sign-ins with the same password count as one attempt when it is correct. */
import { createHmac, randomBytes } from 'node:crypto'

import type { Db } from '../../db/core/database.ts'
import { findUser, type UserRecord } from '../../db/users/users.ts'

interface SignIn {
  provider: string
  address: string
  account?: string
  aud: string
  password: string
}

type Check = () => Promise<UserRecord | undefined>

/**
 * A correct password must not be throttled because an app sends it several times concurrently. Sign-ins with the same
 * password wait for the first one. Each wrong password is a separate attempt and counts.
 */
export function createSharedChecks() {
  const running = new Map<string, ReturnType<Check>>()
  const key = randomBytes(32)

  return async (db: Db, signIn: SignIn, check: Check): Promise<UserRecord | undefined> => {
    const { provider, address, account = address, aud, password } = signIn
    const id = createHmac('sha256', key)
      .update(JSON.stringify([provider, address, account, aud, password]))
      .digest('base64url')
    const runningCheck = running.get(id)
    // Its rejection may not apply here, since this client's device may be a known one.
    const owner = await runningCheck?.catch(() => undefined)
    if (owner) return reload(db, owner)
    if (runningCheck) return check()
    const own = check()
    running.set(id, own)
    try {
      return await own
    } finally {
      running.delete(id)
    }
  }
}

/**
 * The verified row was read before the later sign-in arrived, and a ban may have been lifted since. The verified hash
 * is kept, so that a concurrent password change is detected when the session is created.
 */
async function reload(db: Db, { id, encrypted_password }: UserRecord) {
  const user = await findUser(db, id)
  return user && { ...user, encrypted_password }
}
