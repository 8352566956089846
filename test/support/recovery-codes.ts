/** What people do with recovery codes, over HTTP. */
import type { Session } from '../../schemas/session.ts'
import { everyFactor, guarded, send } from './factors.ts'
import { signedIn } from './people.ts'
import { call } from './requests.ts'
import type { App } from './server.ts'

type Token = Pick<Session, 'access_token'>

export const url = '/factors/recovery_codes'

/** A server on which people have second factors. */
export const factorsOn = everyFactor

export const makeCodes = (app: App, token: Token) => send(app, 'POST', url, token)

export const useCode = (app: App, token: Token, code: string) =>
  send(app, 'POST', `${url}/verify`, token, { code })

export async function remaining(app: App, { access_token: token }: Token): Promise<number> {
  return (await call(app, url, undefined, { token })).json().remaining
}

/** Somebody with a second factor and codes: the session at aal2 that made them, and another one at aal1. */
export async function withCodes(app: App) {
  const { email, factor, session } = await guarded(app)
  const codes: string[] = (await makeCodes(app, session)).json().codes
  const [first = ''] = codes
  return { email, factor, session, codes, first, low: await signedIn(app, email) }
}
