/** A provider of the configuration that gets another issuer: its ids belong to other users. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { insertIdentity } from '../../../db/identities/identities.ts'
import { withoutDrop } from '../../support/database.ts'
import { providerEnv } from '../../support/external.ts'
import { client } from '../../support/providers/fake-provider.ts'
import { type Built, build } from '../../support/server.ts'
import { adminCreatedUser, newAddress } from '../../support/users.ts'

const oidc = (issuer: string) => ({
  AUTH_EXTERNAL_OIDC_ACME_ENABLED: 'true',
  AUTH_EXTERNAL_OIDC_ACME_CLIENT_ID: client.id,
  AUTH_EXTERNAL_OIDC_ACME_SECRET: client.secret,
  AUTH_EXTERNAL_OIDC_ACME_REDIRECT_URI: client.redirectUri,
  AUTH_EXTERNAL_OIDC_ACME_ISSUER: issuer,
})

const github = (url: string) => providerEnv('github', url)

const cases = [
  { provider: 'acme', env: oidc, issuers: ['https://one.example', 'https://two.example'] },
  { provider: 'github', env: github, issuers: ['https://one.example', 'https://two.example'] },
] as const

suite('issuer of a configured provider', () => {
  for (const { provider, env, issuers } of cases) {
    const [one, two] = issuers

    test(`${provider}: may change while no user has an identity of the provider`, async (t) => {
      const first = await build(t, { env: env(one) })
      assert.deepEqual(await warnings(t, first, env(two)), [])
    })

    test(`${provider}: is reported at each start while users have identities of another issuer`, async (t) => {
      const first = await build(t, { env: env(one) })
      const { id } = await adminCreatedUser(first.app, { email: newAddress() })
      const identity = { provider, provider_id: 'ann', identity_data: {}, user_id: id }
      await insertIdentity(first.app.db, identity, new Date())
      const reported = { level: 'error', provider, issuer: two, before: one }
      for (const _ of [1, 2]) {
        assert.deepEqual(await warnings(t, first, env(two)), [reported])
      }
      assert.deepEqual(await warnings(t, first, env(one)), [])
    })
  }
})

/** What another start on the same database reports. */
async function warnings(t: TestContext, { database }: Built, env: Record<string, string>) {
  const lines: string[] = []
  await build(t, { env, lines, database: withoutDrop(database) })
  return lines
    .map((line) => JSON.parse(line))
    .filter(({ msg }) => msg === 'provider has identities of another issuer')
    .map(({ level, provider, issuer, before }) => ({ level, provider, issuer, before }))
}
