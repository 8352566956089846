/** Linking and unlinking identities. */
import type { Session } from '../../schemas/session.ts'
import { describe, type ExternalServer, type ProviderUser } from './external.ts'
import { bearer, getUser } from './requests.ts'

let count = 500
export const nextId = () => String(++count)

export async function link(
  server: ExternalServer,
  session: Session,
  provider: 'github' | 'gitlab',
  as: ProviderUser,
) {
  describe(server.fakes, provider, as)
  const start = { path: '/user/identities/authorize', headers: bearer(session) }
  return server.finishSignIn(await server.startSignIn(provider, start))
}

export function unlink({ app }: ExternalServer, session: Session, identityId: string) {
  const url = `/user/identities/${identityId}`
  return app.inject({ method: 'DELETE', url, headers: bearer(session) })
}

export async function fetchUser(
  { app }: ExternalServer,
  session: Session,
): Promise<Session['user']> {
  return (await getUser(app, session)).json()
}

export function identityId(user: Session['user'], provider: string): string {
  return user.identities?.find((identity) => identity.provider === provider)?.identity_id ?? ''
}
