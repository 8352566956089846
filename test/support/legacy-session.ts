/** A session as an older GoTrue left it in the database: refresh tokens are rows, or counters under a random key. */
import { createSecretKey, randomBytes } from 'node:crypto'

import { encodeRefreshToken } from '../../modules/sessions/refresh-token.ts'
import type { App } from './server.ts'

interface Row {
  revoked?: boolean
  parent?: string
  updatedAt?: Date
}

/** A session without a key; `add` inserts tokens. */
export async function legacySession(app: App, userId: string, now = new Date()) {
  const id = crypto.randomUUID()
  const times = { created_at: now, updated_at: now }
  await app.db
    .insertInto('sessions')
    .values({ id, user_id: userId, aal: 'aal1', refresh_token_counter: null, ...times })
    .execute()

  /** The token is 12 characters of base32, as in GoTrue. */
  async function add({ revoked = false, parent = '', updatedAt = now }: Row = {}): Promise<string> {
    const messages = 'abcdefghijklmnopqrstuvwxyz234567'
    const token = Array.from(randomBytes(12), (byte) => messages[byte % 32]).join('')
    const row = { token, user_id: userId, session_id: id, revoked, parent }
    await app.db
      .insertInto('refresh_tokens')
      .values({ ...row, created_at: now, updated_at: updatedAt })
      .execute()
    return token
  }

  return { id, add }
}

/** A session with an unencrypted key, and its counter token. */
export async function foreignSession(app: App, userId: string, counter: number) {
  const now = new Date()
  const id = crypto.randomUUID()
  const key = createSecretKey(randomBytes(32))
  await app.db
    .insertInto('sessions')
    .values({
      id,
      user_id: userId,
      aal: 'aal1',
      refresh_token_hmac_key: key.export().toString('base64url'),
      refresh_token_counter: counter,
      created_at: now,
      updated_at: now,
      refreshed_at: now,
    })
    .execute()
  return { id, tokenAt: (at: number) => encodeRefreshToken(id, at, key) }
}
