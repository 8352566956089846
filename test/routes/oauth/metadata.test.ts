/** Discovery documents. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { ownConsentPage } from '../../support/oauth-server.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'

suite('discovery', () => {
  const serverFor = sharedServers()
  const server = async () => (await serverFor(ownConsentPage)).app

  test('uses one issuer in all discovery documents', async () => {
    const app = await server()
    const paths = ['openid-configuration', 'oauth-authorization-server']
    const documents = await Promise.all(paths.map((path) => app.inject(`/.well-known/${path}`)))
    const [openid, oauth] = documents.map((document) => document.json())
    assert.deepEqual(openid, oauth)
    assert.equal(openid.issuer, app.jwt.issuer)
    assert.equal(openid.client_id_metadata_document_supported, true)
    assert.ok(openid.token_endpoint_auth_methods_supported.includes('none'))
    const resourceMetadata = (await app.inject('/.well-known/oauth-protected-resource')).json()
    assert.deepEqual(resourceMetadata.authorization_servers, [app.jwt.issuer])
  })
})
