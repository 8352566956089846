/** An email that the provider does not report as verified does not sign in to its account. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { providerEnv } from '../../support/external.ts'
import { cases } from '../../support/providers/documented.ts'
import { startFakeProvider } from '../../support/providers/fake-provider.ts'
import { type App, build } from '../../support/server.ts'
import { confirmedUser } from '../../support/users.ts'

suite('email without verification by the provider', () => {
  const profiles = {
    'Zoom, not verified, with a list of sign-in types': { verified: 0, login_types: [100] },
    'Zoom, not verified, signed up through another provider': { verified: 0, login_type: 1 },
    'Zoom, without verification status': { login_types: [100] },
  }
  for (const [title, profile] of Object.entries(profiles)) {
    test(`does not sign in to the account: ${title}`, async (t) => {
      const documented = cases.zoom?.documented ?? assert.fail()
      const zoom = await startFakeProvider(t, documented)
      const server = await build(t, { env: providerEnv('zoom', zoom.origin) })
      const { user } = await confirmedUser(server)
      const body = JSON.stringify({ id: 'mallory', email: user.email, ...profile })
      zoom.instead.set('/v2/users/me', { type: 'application/json', body })

      const { query, fragment } = await signInWith(server.app, 'zoom')

      assert.equal(query.error_code, 'provider_email_needs_verification')
      assert.equal(fragment.access_token, undefined)
      const identities = await server.app.db
        .selectFrom('identities')
        .select('provider')
        .where('user_id', '=', user.id)
        .execute()
      assert.deepEqual(identities, [{ provider: 'email' }])
    })
  }
})

/** From /authorize to the provider and back to the final redirect. */
async function signInWith(app: App, provider: string) {
  const sent = await app.inject(`/authorize?provider=${provider}`)
  const back = await fetch(String(sent.headers.location), { redirect: 'manual' })
  const { search } = new URL(back.headers.get('location') ?? '')
  const response = await app.inject(`/callback${search}`)
  const location = new URL(String(response.headers.location))
  return {
    query: Object.fromEntries(location.searchParams),
    fragment: Object.fromEntries(new URLSearchParams(location.hash.slice(1))),
  }
}
