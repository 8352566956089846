/** The providers of a server together. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { createOauthProviders } from '../../../plugins/outgoing/oauth-providers/index.ts'
import { providerHttpByName } from '../../../providers/provider-http.ts'
import { fakeIssuer } from '../../support/providers/fake-issuer.ts'
import { email, enabled, microsoft, now, token } from '../../support/providers/id-tokens.ts'
import { createUpstream } from '../../support/providers/settings.ts'

suite('id_token key cache', () => {
  test('keeps the keys of a provider when another one has many tenants', async () => {
    const issuer = fakeIssuer()
    const providers = createOauthProviders({
      groups: [{ settings: enabled, upstream: createUpstream(issuer.fetch) }],
      getIdTokenHttp: providerHttpByName(() => createUpstream(issuer.fetch)),
      allowedIssuers: new Map(),
      deadlineMs: 5000,
      metadataDeadlineMs: 5000,
    })
    const signIn = async (provider: string, iss: string) => {
      const idToken = await token({ iss, email })
      return providers.identifyByIdToken({ provider, idToken }, now)
    }
    await signIn('acme', 'https://acme.test')
    const requested = issuer.state.asked.length
    for (let tenant = 0; tenant < 201; tenant++) {
      const id = `11111111-2222-3333-4444-${String(tenant).padStart(12, '0')}`
      await signIn('azure', `${microsoft}/${id}/v2.0`)
    }
    assert.equal(issuer.state.asked.length, requested + 402)
    issuer.state.down = true
    const { provider } = await signIn('acme', 'https://acme.test')
    assert.equal(provider, 'acme')
    assert.equal(issuer.state.asked.length, requested + 402)
  })
})
