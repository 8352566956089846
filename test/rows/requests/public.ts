/** Requests without a token: sign-up, sign-in, links and codes. */
import { newAddress, password } from '../../support/users.ts'
import type { World } from '../world/index.ts'
import { legacyToken } from '../world/pending.ts'
import { testCode, testNumber } from '../world/settings.ts'
import type { Requests, Sent } from './send.ts'

const post = (payload: object): Sent => ({ token: null, payload })
const grant = (grant_type: string, payload: object): Sent => ({
  ...post(payload),
  query: { grant_type },
})

export function createPublicRequests(world: World): Requests {
  const { ann, phone, links, session, changer, organization, authenticator, question } = world
  const { email } = ann
  return {
    'POST /signup': [
      post({ email: newAddress(), password }),
      post({ email, password, username: 'ann-other' }),
      post({ phone, password }),
      post({}),
    ],
    'POST /signup/username': post({ username: 'ann-main' }),
    'POST /otp': [post({ email }), post({ phone })],
    'POST /magiclink': post({ email }),
    'POST /recover': [post({ email }), post({ username: 'ann-main' })],
    'POST /resend': [
      post({ type: 'signup', email: newAddress() }),
      post({ type: 'email_change', email: changer.email }),
      post({ type: 'phone_change', phone }),
    ],
    'POST /verify': [
      ...links.map(({ type, hashed_token }) => post({ type, token_hash: hashed_token })),
      ...links.map((link) => post({ type: link.type, email: link.email, token: link.email_otp })),
      post({ type: 'sms', phone: testNumber, token: testCode }),
    ],
    'GET /verify': links.map(({ type, hashed_token: token }) => ({
      token: null,
      query: { type, token },
    })),
    'POST /token': [
      grant('password', { email, password }),
      grant('password', { phone, password }),
      grant('password', { username: 'ann-main', password }),
      grant('refresh_token', { refresh_token: session.refresh_token }),
      grant('refresh_token', {
        refresh_token: session.refresh_token,
        organization_id: organization.id,
      }),
      grant('refresh_token', { refresh_token: legacyToken }),
      grant('pkce', world.flow),
    ],
    'POST /passkeys/authentication/options': post({}),
    'POST /passkeys/authentication/verify': post({
      challenge_id: question.challenge_id,
      credential: authenticator.get(question.options),
    }),
    'GET /authorize': { token: null, query: { provider: 'custom:acme' } },
    'POST /sso': [
      post({ provider_id: world.idp.id, skip_http_redirect: true }),
      post({ domain: 'corp.example', skip_http_redirect: true }),
    ],
    'POST /console/first_admin/check': post({ token: world.firstAdmin }),
  }
}
