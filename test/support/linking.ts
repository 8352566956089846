/** People who add and take away ways to sign in. */
import type { Session } from '../../schemas/session.ts'
import { describe, type ExternalServer, type Somebody } from './external.ts'
import { bearer, getUser } from './requests.ts'

let count = 500
export const nextId = () => String(++count)

export async function link(
  server: ExternalServer,
  who: Session,
  provider: 'github' | 'gitlab',
  as: Somebody,
) {
  describe(server.fakes, provider, as)
  const start = { path: '/user/identities/authorize', headers: bearer(who) }
  return server.comeBack(await server.goTo(provider, start))
}

export function unlink({ app }: ExternalServer, who: Session, identityId: string) {
  const url = `/user/identities/${identityId}`
  return app.inject({ method: 'DELETE', url, headers: bearer(who) })
}

export async function userOf({ app }: ExternalServer, who: Session): Promise<Session['user']> {
  return (await getUser(app, who)).json()
}

export function identityId(user: Session['user'], provider: string): string {
  return user.identities?.find((identity) => identity.provider === provider)?.identity_id ?? ''
}
