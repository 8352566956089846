/** People who add and take away ways to sign in. */
import type { Session } from '../../schemas/session.ts'
import { describe, type ExternalServer, type Somebody } from './external.ts'

let count = 500
export const nextId = () => String(++count)

export async function anonymous({ app }: ExternalServer): Promise<Session> {
  return (await app.inject({ method: 'POST', url: '/signup', payload: {} })).json()
}

export async function withPassword(server: ExternalServer, email: string): Promise<Session> {
  await server.signUp(email, true)
  return (await server.passwordSignIn(email)).json()
}

export const bearer = ({ access_token }: { access_token: string }) => ({
  authorization: `Bearer ${access_token}`,
})

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
  return (await app.inject({ url: '/user', headers: bearer(who) })).json()
}

export function identityId(user: Session['user'], provider: string): string {
  return user.identities?.find((identity) => identity.provider === provider)?.identity_id ?? ''
}
