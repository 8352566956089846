/** Sign-in through a provider that takes AuthnRequests by HTTP-POST only. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { SignedXml } from 'xml-crypto'

import { toPem } from '../../../providers/saml/signature.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call } from '../../support/requests.ts'
import { createIdp, samlService, signedResponse } from '../../support/saml/idp.ts'
import { formIn, visit } from '../../support/saml/logout.ts'
import { addIdp, post, samlOn } from '../../support/saml/server.ts'
import { bodyOf200 } from '../../support/users.ts'

const postOnly = () =>
  createIdp(undefined, (entityId) =>
    samlService('SingleSignOnService', 'HTTP-POST', `${entityId}/sso?a=1&amp;b=2`),
  )

suite('POST /sso for a provider with HTTP-POST', () => {
  const server = sharedServers()

  test('sends the browser to a page that posts a signed AuthnRequest, and signs the user in', async () => {
    const { app } = await server(samlOn)
    const { idp, id } = await addIdp(app, {}, postOnly())
    const body = { provider_id: id, skip_http_redirect: true }
    const { url } = bodyOf200<{ url: string }>(await call(app, '/sso', body))
    assert.ok(url.startsWith('http://auth.example/sso/saml/post?id='), url)
    const page = await visit(app, url)
    const { action, fields } = formIn(page.body)
    assert.equal(action, `${idp.entityId}/sso?a=1&b=2`)
    const request = Buffer.from(fields.SAMLRequest ?? '', 'base64').toString()
    assert.ok(request.includes(`Destination="${idp.entityId}/sso?a=1&amp;b=2"`), request)
    const metadata = (await app.inject('/sso/saml/metadata')).body
    const publicCert = toPem(/<X509Certificate>([^<]+)/.exec(metadata)?.[1] ?? '')
    const [signature = ''] = /<Signature[\s\S]*<\/Signature>/.exec(request) ?? []
    const signed = new SignedXml({ publicCert })
    signed.loadSignature(signature)
    assert.ok(signed.checkSignature(request))
    const requestId = / ID="([^"]+)"/.exec(request)?.[1]
    const xml = signedResponse({ idp, requestId })
    const redirect = await post(app, xml, fields.RelayState)
    assert.equal(redirect.status, 302, redirect.location.href)
    assert.ok(redirect.fragment.access_token)
  })

  test('allows only the script of the page, and no framing', async () => {
    const { app } = await server(samlOn)
    const { id } = await addIdp(app, {}, postOnly())
    const begun = await call(app, '/sso', { provider_id: id })
    assert.equal(begun.statusCode, 303)
    const { headers } = await visit(app, String(begun.headers.location))
    const policy = String(headers['content-security-policy'])
    assert.match(policy, /default-src 'none'.*frame-ancestors 'none'; script-src 'sha256-[^']+'$/)
    assert.equal(headers['cache-control'], 'no-store')
  })

  test('rejects the page of an unknown, used or old request', async () => {
    const { app } = await server(samlOn)
    const { id } = await addIdp(app, {}, postOnly())
    const findError = async (url: string) => {
      const { statusCode, headers } = await visit(app, url)
      const { origin, pathname, searchParams } = new URL(String(headers.location))
      return [statusCode, `${origin}${pathname}`, searchParams.get('error_code')]
    }
    const unknown = [303, 'http://app.example/', 'saml_relay_state_not_found']
    for (const query of ['', '?id=x', `?id=${crypto.randomUUID()}`]) {
      assert.deepEqual(await findError(`/sso/saml/post${query}`), unknown)
    }
    const redirect_to = 'http://app.example/signed-in'
    const begun = await call(app, '/sso', { provider_id: id, redirect_to })
    const url = String(begun.headers.location)
    const old = { created_at: new Date(Date.now() - 130_000) }
    const relay = new URL(url).searchParams.get('id') ?? ''
    await app.db.updateTable('saml_relay_states').set(old).where('id', '=', relay).execute()
    assert.deepEqual(await findError(url), [303, redirect_to, 'saml_relay_state_expired'])
  })
})
