/** Requests of users with recovery codes. */
import { insertRecoveryCodeSet } from '../../../db/factors/recovery-codes.ts'
import type { Session } from '../../../schemas/session.ts'
import { call } from '../requests.ts'
import type { App } from '../server.ts'
import { signedIn } from '../users.ts'
import { everyFactor, send, userWithTotp } from './factors.ts'

type Token = Pick<Session, 'access_token'>

export const url = '/factors/recovery-codes'
/** The path from before the client SDK had one. */
export const ownUrl = '/factors/recovery_codes'

/** As few as a set can have: each is hashed at a cost that no setting lowers. */
export const codeCount = 4

/** A server with factors enabled and few codes in a set. */
export const factorsOn = { ...everyFactor, AUTH_MFA_RECOVERY_CODES_COUNT: String(codeCount) }

export const makeCodes = (app: App, token: Token, body = {}) => send(app, 'POST', url, token, body)

export const remakeCodes = (app: App, token: Token) => send(app, 'POST', `${url}/regenerate`, token)

export const useCode = (app: App, token: Token, code: string) =>
  send(app, 'POST', `${url}/verify`, token, { code })

/** The length is that of no code, so that it is always wrong. */
export const wrongRecoveryCode = 'a'.repeat(12)

export async function remaining(app: App, { access_token: token }: Token): Promise<number> {
  return (await call(app, ownUrl, undefined, { token })).json().remaining
}

/** A user with a factor and recovery codes: the aal2 session that created them, and another session at aal1. */
export async function userWithRecoveryCodes(app: App) {
  const { email, factor, session } = await userWithTotp(app)
  const { id: setFactor, codes }: { id: string; codes: string[] } = (
    await makeCodes(app, session)
  ).json()
  const [first = ''] = codes
  return { email, factor, session, setFactor, codes, first, low: await signedIn(app, email) }
}

/** Inserts a set of one code for a user who cannot create one. Returns the id of the factor. */
export async function insertRecoveryCodes({ db }: App, userId: string): Promise<string> {
  const ids = { factorId: crypto.randomUUID(), setId: crypto.randomUUID() }
  const codes = [{ id: crypto.randomUUID(), codeHash: '$argon2id$', digest: 'none' }]
  const set = { userId, name: 'Recovery codes', codes, keyId: 'none', ...ids }
  await db.transaction().execute((trx) => insertRecoveryCodeSet(trx, set, new Date()))
  return ids.factorId
}
